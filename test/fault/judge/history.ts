/** What was recorded of a run in which something broke: the log, what everybody was answered, and what reached each audience. */
import type { Received } from '@countersign/testing';

/** An event of a review as it is stored. */
export interface Fact {
  position: number;
  /** The review's id. */
  stream: string;
  version: number;
  id: string;
  type: string;
  /** ISO-8601, UTC. */
  time: string;
  body: FactBody;
}

/** What the judge reads of bodies; the rest is the contracts' business. */
export interface FactBody {
  [member: string]: unknown;
  idempotency_key?: string | null;
  callback_url?: string | null;
  priority?: string;
  timeout?: { seconds: number; action: string } | null;
  decision?: string;
  trigger?: string;
  decided_by?: { kind: string; id: string; email?: string };
  by?: { kind: string; email?: string };
  action?: { id: string } | null;
  shown?: { version: number } | null;
  version?: number;
  after_seconds?: number | null;
  approved_digest?: string | null;
  redemption_id?: string;
  webhook_event?: string | null;
}

/** How a review stands, as an answer, a list or the log says it. */
export interface Standing {
  id: string;
  status: string;
  decision: string | null;
  decided_by: string | null;
  decided_at: string | null;
  current_version: number;
}

/** Something somebody asked for and was answered; what got no answer is asked again until it is, and does not stand here. */
export interface Answered {
  /** Milliseconds on the clock of who recorded it. */
  sent: number;
  answered: number;
  /** A person's e-mail, or `agent`. */
  by: string;
  what: 'request' | 'act' | 'resubmit' | 'withdraw' | 'redeem' | 'read';
  /** Null where there was none to name and none was answered. */
  review: string | null;
  said: { key?: string; action?: string; version?: number };
  status: number;
  /** The code of a refusal. */
  code: string | null;
  /** The review as the answer has it; a 409 says how it stands. */
  told: Standing | null;
  redemption: string | null;
}

/** A frame of the agent's stream, with its place. */
export interface SeenFrame {
  id: string;
  type: string;
  review_id?: string;
  decision?: string;
  decided_at?: string;
  [more: string]: unknown;
}

export interface History {
  /** Of every review that began in the run, by position. */
  facts: readonly Fact[];
  /** What `verify` says of the hash chain over the whole log, and how many positions of the run there are between its first and its last. */
  chain: { valid: boolean; first: number; last: number; count: number };
  answers: readonly Answered[];
  /** Webhooks in the order they came, copies included; each with a valid signature. */
  arrivals: readonly Pick<Received, 'headers' | 'body' | 'json'>[];
  /** Arrivals whose signature was not that of the secret, by id. */
  unsigned: readonly string[];
  /** Of one listener, across all its connections. */
  frames: readonly SeenFrame[];
  /** Each audience's list of reviews as it stands at the end. */
  views: Readonly<Record<string, readonly (Standing & { approved_digest: string | null })[]>>;
}

export const FAULTS = [
  'lost',
  'doubled',
  'reordered',
  'forked',
  'decided after the deadline',
  'decided twice',
  'delivered differently',
  'told otherwise',
] as const;

export interface Fault {
  kind: (typeof FAULTS)[number];
  what: string;
}
