/**
 * The stream of a project's reviews to its clients (HRP §6.3, decision 13).
 *
 * H1 A reader gets every frame it may see exactly once and in order, from its place on: what it missed is read from the store until it is
 *    where this process is, and in that moment it begins to be told what happens.
 * H2 The past is kept 24 h or 10,000 frames; a reader from further back, or from nowhere we know, gets one `reset` instead. It begins where
 *    this process was when the stream opened, so that what happens after `open` is told to everybody.
 * H3 Nothing is kept without bound: a reader that falls behind by more than its buffer is cut off, and when this process cannot keep up
 *    itself, all are, to come again where they were.
 * H4 A credential that was revoked loses its streams at the next check, and at once when the directory says so in an event.
 */
import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import type { AgentActor, PersonActor } from '@countersign/contracts';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore, StoredEvent } from '@countersign/event-store';
import { Problem, retryAfter } from '@countersign/http';
import { type Logger, observe } from '@countersign/telemetry';
import { callerId } from '../admission/access.js';
import { isAfter, type Place, placeOf } from './frame-id.js';
import type { Frame } from './frames.js';
import { mayRead, maySee, Reader, wholeEvent } from './reader.js';
import { FrameMaker } from './review-facts.js';

const HEARTBEAT_MS = 30_000;
const READERS_EACH = 5;
const REPLAY_FRAMES = 10_000;
const REPLAY_MS = 24 * 3_600_000;
const PAGE = 500;
/** Events read for one replay; most of them may be other projects'. */
export const REPLAY_EVENTS = 100_000;
/** Events waiting to become frames before this process gives up keeping up (H3). */
const MOST_WAITING = 20_000;

export interface HubOptions {
  bus: Pick<EventBus, 'tail'>;
  store: Pick<EventStore, 'readAll' | 'readStream' | 'head'>;
  logger: Logger;
  bufferBytes: number;
  /** Default: {@link REPLAY_EVENTS}. */
  replayEvents?: number | undefined;
}

export class StreamHub {
  readonly #readers = new Set<Reader>();
  readonly #maker: FrameMaker;
  #position = 0;
  #waiting: StoredEvent[] = [];
  #busy = false;
  #working: Promise<void> = Promise.resolve();
  #tail: { close(): Promise<void> } | null = null;
  #heartbeat: NodeJS.Timeout | undefined;
  #unobserve = () => {};

  constructor(private readonly options: HubOptions) {
    this.#maker = new FrameMaker(options.store);
  }

  async start(): Promise<void> {
    this.#unobserve = observe(['streams'], (report) => report('streams', this.#readers.size, {}));
    this.#position = (await this.options.store.head()).position;
    this.#tail = await this.options.bus.tail({
      from: this.#position,
      categories: ['review'],
      onEvents: (events) => this.#enqueue(events),
    });
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers) reader.heartbeat();
    }, HEARTBEAT_MS).unref();
  }

  async close(): Promise<void> {
    this.#unobserve();
    clearInterval(this.#heartbeat);
    for (const reader of this.#readers) reader.end();
    await this.#tail?.close();
    await this.#working;
  }

  get readers(): ReadonlySet<Reader> {
    return this.#readers;
  }

  /** @throws {Problem} `too_many_connections` when the key or person holds as many streams as it may. */
  admit(actor: AgentActor | PersonActor): void {
    const caller = callerId(actor);
    const held = [...this.#readers].filter((reader) => callerId(reader.actor) === caller).length;
    if (held >= READERS_EACH) {
      throw new Problem('too_many_connections', `At most ${READERS_EACH} streams may be open at a time. Close one.`, {
        headers: retryAfter(1),
      });
    }
  }

  /**
   * Serves a client until it leaves, is cut off or its credential ends. The response's head has been written.
   * @param lastEventId the `Last-Event-ID` of a client that comes again.
   */
  async serve(actor: AgentActor | PersonActor, response: ServerResponse, lastEventId: string | undefined): Promise<void> {
    // Gone while it was asked who it is: nobody would ever take it off the list.
    if (response.closed) return;
    const here = wholeEvent(this.#position);
    const from = lastEventId === undefined ? here : placeOf(lastEventId);
    const reader = new Reader(actor, response, from ?? here, this.options.bufferBytes);
    this.#readers.add(reader);
    response.on('close', () => {
      this.#readers.delete(reader);
      reader.end();
    });
    reader.say({ type: 'open' }, lastEventId === undefined ? here : null);
    try {
      await this.#catchUp(reader, from, here);
    } catch (error) {
      this.options.logger.warn({ err: error }, 'stream history could not be read, client must reconnect');
      reader.cutOff();
    }
  }

  /**
   * Sends what lies between where the client was and where this process is when it is done, or `reset` where that is no longer kept (H2),
   * and lets the reader hear what happens from there on.
   * @param opened where this process was when the stream opened.
   */
  async #catchUp(reader: Reader, from: Place | null, opened: Place): Promise<void> {
    const { position: head, now } = await this.options.store.head();
    let place = from;
    if (place === null || place.position > head) {
      place = opened;
      reader.restart(opened);
    }
    // A client may come from a gateway that is further than this one was, or have been cut off between two frames of the last event told.
    let target = isAfter(opened, place) ? opened : wholeEvent(this.#position);
    while (isAfter(target, place)) {
      // What came after `open` is news, however late it is told.
      const keptFrom = isAfter(target, opened) ? 0 : Date.parse(now) - REPLAY_MS;
      const missed = await this.#missed(reader.actor, place, target, keptFrom);
      if (missed === null) reader.restart(target);
      else for (const frame of missed) await reader.replay(frame);
      if (!reader.isOpen) return;
      place = target;
      target = wholeEvent(this.#position);
    }
    // In the same breath as the last look at the position: an event told in between would be told to everybody else only.
    reader.goLive();
  }

  /**
   * What is between two places, or null when it is too old or too much (H2).
   * @param keptFrom time in ms before which nothing is kept.
   */
  async #missed(actor: AgentActor | PersonActor, from: Place, to: Place, keptFrom: number): Promise<Frame[] | null> {
    // One of its own: what it learns of the past must not stand in for the present.
    const maker = new FrameMaker(this.options.store);
    const frames: Frame[] = [];
    let read = 0;
    for (let after = from.position - 1; after < to.position; ) {
      const events = await this.options.store.readAll({
        after,
        limit: PAGE,
        categories: ['review'],
        ...(actor.kind === 'agent' ? { project: actor.project_id } : {}),
      });
      const past = events.filter((event) => event.position <= to.position);
      const made = (await maker.make(past)).filter((frame) => isAfter(frame, from) && maySee(actor, frame));
      if (frames.length === 0 && made[0] && Date.parse(timeOf(past, made[0])) < keptFrom) return null;
      frames.push(...made);
      read += events.length;
      if (frames.length > REPLAY_FRAMES || read > (this.options.replayEvents ?? REPLAY_EVENTS)) return null;
      if (past.length < PAGE) break;
      after = past.at(-1)?.position ?? to.position;
    }
    return frames;
  }

  #enqueue(events: StoredEvent[]): void {
    this.#waiting.push(...events);
    if (this.#waiting.length > MOST_WAITING) {
      this.options.logger.warn({ waiting: this.#waiting.length }, 'stream fell behind, clients must reconnect');
      this.#position = this.#waiting.at(-1)?.position ?? this.#position;
      this.#waiting = [];
      for (const reader of this.#readers) reader.cutOff();
    }
    if (!this.#busy) this.#working = this.#work();
  }

  async #work(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      const events = this.#waiting;
      this.#waiting = [];
      try {
        await this.#tell(await this.#maker.make(events));
      } catch (error) {
        this.options.logger.warn({ err: error }, 'events could not be sent on the stream, clients must reconnect');
        for (const reader of this.#readers) reader.cutOff();
      }
      this.#position = Math.max(this.#position, events.at(-1)?.position ?? 0);
    }
    // In the same breath as the look at what waits: whatever arrives from here on begins anew.
    this.#busy = false;
  }

  /** Event by event, so that whoever joins between two begins after a whole one; sockets get their turn before buffers fill. */
  async #tell(frames: readonly Frame[]): Promise<void> {
    let bytes = 0;
    for (const [index, frame] of frames.entries()) {
      for (const reader of this.#readers) reader.live(frame);
      bytes += frame.data.length;
      if (frames[index + 1]?.position === frame.position) continue;
      this.#position = Math.max(this.#position, frame.position);
      if (bytes < this.options.bufferBytes / 4) continue;
      bytes = 0;
      await turn();
    }
  }

  /** Puts today's view of their credentials in place of yesterday's; whoever has none any more loses the stream (H4). */
  refresh(current: { agents: AgentActor[]; people: PersonActor[] }, asked: ReadonlySet<Reader>): void {
    const keys = new Map(current.agents.map((agent) => [agent.key_id, agent]));
    const sessions = new Map(current.people.map((person) => [person.session_id, person]));
    for (const reader of asked) {
      const { actor } = reader;
      const today = actor.kind === 'agent' ? keys.get(actor.key_id) : sessions.get(actor.session_id);
      if (today && mayReadSomething(today)) reader.actor = today;
      else reader.end();
    }
  }
}

function timeOf(events: readonly StoredEvent[], { position }: Frame): string {
  return events.find((event) => event.position === position)?.time ?? '';
}

function mayReadSomething(actor: AgentActor | PersonActor): boolean {
  return actor.kind === 'agent' ? mayRead(actor) : Object.keys(actor.roles).some((project_id) => mayRead({ ...actor, project_id }));
}
