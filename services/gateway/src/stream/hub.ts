/**
 * The stream of a project's reviews to its clients (HRP digest §6.3, decision 13).
 *
 * H1 A reader gets every frame it may see exactly once and in order, from its place on: what it missed comes from the store, what happens
 *    meanwhile is held, and `Reader` drops what it has.
 * H2 The past is kept 24 h or 10,000 frames; a reader from further back gets one `reset` instead and begins at the head.
 * H3 Nothing is kept without bound: a reader that falls behind by more than its buffer is cut off, and when this process cannot keep up
 *    itself, all are, to come again where they were.
 * H4 A credential that was revoked loses its streams at the next check, and at once when the directory says so in an event.
 */
import type { ServerResponse } from 'node:http';
import type { AgentActor, PersonActor } from '@countersign/contracts';
import type { EventBus } from '@countersign/event-bus';
import type { EventStore, StoredEvent } from '@countersign/event-store';
import { Problem, retryAfter } from '@countersign/http';
import type { Logger } from '@countersign/telemetry';
import { callerId } from '../access.js';
import { isAfter, type Place, placeOf } from './frame-id.js';
import type { Frame } from './frames.js';
import { mayRead, Reader, wholeEvent } from './reader.js';
import { FrameMaker } from './review-facts.js';

const HEARTBEAT_MS = 30_000;
const READERS_EACH = 5;
const REPLAY_FRAMES = 10_000;
const REPLAY_MS = 24 * 3_600_000;
const PAGE = 500;
/** Events read for one replay; most of them may be other projects'. */
const REPLAY_EVENTS = 100_000;
/** Events waiting to become frames before this process gives up keeping up (H3). */
const MOST_WAITING = 20_000;

export interface HubOptions {
  bus: Pick<EventBus, 'tail'>;
  store: Pick<EventStore, 'readAll' | 'readStream' | 'head'>;
  logger: Logger;
  bufferBytes: number;
}

export class StreamHub {
  readonly #readers = new Set<Reader>();
  readonly #maker: FrameMaker;
  #position = 0;
  #waiting: StoredEvent[] = [];
  #working: Promise<void> | null = null;
  #tail: { close(): Promise<void> } | null = null;
  #heartbeat: NodeJS.Timeout | undefined;

  constructor(private readonly options: HubOptions) {
    this.#maker = new FrameMaker(options.store);
  }

  async start(): Promise<void> {
    this.#position = (await this.options.store.head()).position;
    this.#tail = await this.options.bus.tail({
      from: this.#position,
      categories: ['review'],
      onEvents: (events) => this.#enqueue(events),
    });
    this.#heartbeat = setInterval(() => {
      for (const reader of this.#readers) reader.heartbeat();
    }, HEARTBEAT_MS);
  }

  async close(): Promise<void> {
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
      throw new Problem('too_many_connections', `At most ${READERS_EACH} streams at a time; close one.`, { headers: retryAfter(1) });
    }
  }

  /**
   * Serves a client until it leaves, is cut off or its credential ends. The response's head has been written.
   * @param lastEventId the `Last-Event-ID` of a client that comes again.
   */
  async serve(actor: AgentActor | PersonActor, response: ServerResponse, lastEventId: string | undefined): Promise<void> {
    const here = wholeEvent(this.#position);
    const from = lastEventId === undefined ? here : placeOf(lastEventId);
    const reader = new Reader(actor, response, from ?? here, this.options.bufferBytes);
    this.#readers.add(reader);
    response.on('close', () => {
      this.#readers.delete(reader);
      reader.end();
    });
    reader.say({ type: 'open' }, lastEventId === undefined ? here : null);
    if (lastEventId !== undefined) await this.#catchUp(reader, from, here);
    reader.goLive();
  }

  /** Sends what lies between where the client was and where this process is; or `reset` where that is no longer kept (H2). */
  async #catchUp(reader: Reader, from: Place | null, here: Place): Promise<void> {
    const missed = from === null ? null : await this.#missed(reader, from, here);
    if (missed === null) {
      reader.restart(here);
      return;
    }
    for (const frame of missed) await reader.replay(frame);
  }

  async #missed(reader: Reader, from: Place, here: Place): Promise<Frame[] | null> {
    const { position: head, now } = await this.options.store.head();
    if (from.position > head) return null;
    // One of its own: what it learns of the past must not stand in for the present.
    const maker = new FrameMaker(this.options.store);
    const frames: Frame[] = [];
    let after = from.position - 1;
    for (let read = 0; after < here.position; ) {
      const events = await this.options.store.readAll({
        after,
        limit: PAGE,
        categories: ['review'],
        ...(reader.actor.kind === 'agent' ? { project: reader.actor.project_id } : {}),
      });
      const past = events.filter((event) => event.position <= here.position);
      const made = (await maker.make(past)).filter((frame) => isAfter(frame, from) && reader.maySee(frame));
      const first = made[0] && past.find((event) => event.position === made[0]?.position);
      if (frames.length === 0 && first && Date.parse(now) - Date.parse(first.time) > REPLAY_MS) return null;
      frames.push(...made);
      read += events.length;
      if (frames.length > REPLAY_FRAMES || read > REPLAY_EVENTS) return null;
      if (events.length < PAGE || past.length < events.length || !reader.isOpen) break;
      after = events.at(-1)?.position ?? here.position;
    }
    return frames;
  }

  #enqueue(events: StoredEvent[]): void {
    this.#waiting.push(...events);
    if (this.#waiting.length > MOST_WAITING) {
      this.options.logger.warn({ waiting: this.#waiting.length }, 'the stream cannot keep up: its readers have to come again');
      this.#position = this.#waiting.at(-1)?.position ?? this.#position;
      this.#waiting = [];
      for (const reader of this.#readers) reader.cutOff();
    }
    this.#working ??= this.#work().finally(() => {
      this.#working = null;
    });
  }

  async #work(): Promise<void> {
    while (this.#waiting.length > 0) {
      const events = this.#waiting;
      this.#waiting = [];
      try {
        const frames = await this.#maker.make(events);
        for (const frame of frames) for (const reader of this.#readers) reader.live(frame);
      } catch (error) {
        this.options.logger.warn({ err: error }, 'events could not be told on the stream: its readers have to come again');
        for (const reader of this.#readers) reader.cutOff();
      }
      this.#position = Math.max(this.#position, events.at(-1)?.position ?? 0);
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

function mayReadSomething(actor: AgentActor | PersonActor): boolean {
  return actor.kind === 'agent' ? mayRead(actor) : Object.keys(actor.roles).some((project_id) => mayRead({ ...actor, project_id }));
}
