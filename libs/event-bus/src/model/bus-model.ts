/** Schema `event_bus` in memory: the rows, for the statements in this folder. Times are milliseconds since 1970. */
export interface Cursor {
  bucket: number;
  position: number;
  replayUntil: number;
  owner: string | null;
  epoch: number;
}

export interface ParkedRow {
  group: string;
  stream: string;
  bucket: number;
  position: number;
  unknownType: string | null;
  reason: string;
  parkedAt: number;
  replayUntil: number;
  releaseRequested: boolean;
  replayed: number;
  releasedAt: number | null;
}

export interface RelayRow {
  position: number;
  owner: string | null;
  session: number | null;
  epoch: number;
  leaseUntil: number;
}

export class BusModel {
  readonly groups = new Map<string, { categories: string[]; paused: boolean }>();
  readonly members = new Map<string, { leaseUntil: number; session: number | null }>();
  readonly subscriptions = new Set<{ group: string; member: string }>();
  readonly cursors = new Map<string, Cursor[]>();
  /** By `<group> <stream>`. */
  readonly parked = new Map<string, ParkedRow>();
  relay: RelayRow | null = null;
  /** Second keys of the advisory locks that connections hold. */
  readonly sessions = new Set<number>();
  readonly wallClock: () => number;
  readonly notify: (channel: string) => void;

  constructor(options: { wallClock: () => number; notify(channel: string): void }) {
    this.wallClock = options.wallClock;
    this.notify = options.notify;
  }

  inSession(session: number | null): boolean {
    return session === null || this.sessions.has(session);
  }

  leave(member: string): void {
    this.members.delete(member);
    for (const one of this.subscriptions) if (one.member === member) this.subscriptions.delete(one);
  }

  /** Of a group, in position order. */
  parkedOf(group: string): ParkedRow[] {
    const rows = [...this.parked.values()].filter((row) => row.group === group && row.releasedAt === null);
    return rows.sort((a, b) => a.position - b.position);
  }
}
