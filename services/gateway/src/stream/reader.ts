import type { ServerResponse } from 'node:http';
import type { Actor, AgentActor, PersonActor } from '@countersign/contracts';
import { scopesOf } from '../admission/access.js';
import { frameId, isAfter, type Place, WHOLE_EVENT } from './frame-id.js';
import type { Frame } from './frames.js';

/** A reader that takes nothing of a replay for so long is gone or stuck. */
const LONGEST_WAIT_MS = 30_000;

/** A client on the stream: what it may see, how far it is, and the socket it is written to. */
export class Reader {
  /** False while the past is replayed: what happens meanwhile is then part of it. */
  #live = false;
  #open = true;
  #after: Place;

  /**
   * @param after frames up to this place are not sent.
   * @param bufferBytes how far behind the reader may be before it is cut off.
   */
  constructor(
    public actor: AgentActor | PersonActor,
    private readonly response: ServerResponse,
    after: Place,
    private readonly bufferBytes: number,
  ) {
    this.#after = after;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  /** A frame as it happens. */
  live(frame: Frame): void {
    if (this.#live && this.#open && maySee(this.actor, frame)) this.#send(frame);
  }

  /** A frame of the past. Resolves when the socket has room again, or is gone; one that takes too long is cut off. */
  async replay(frame: Frame): Promise<void> {
    if (!this.#open || !maySee(this.actor, frame)) return;
    this.#send(frame);
    if (this.#open && this.response.writableNeedDrain && !(await drained(this.response))) this.cutOff();
  }

  /** What the reader missed is not kept: it begins anew here. */
  restart(here: Place): void {
    this.#after = here;
    this.say({ type: 'reset' }, here);
  }

  /** Everything older has been sent: from now on frames go out as they come. */
  goLive(): void {
    this.#live = true;
  }

  /** A frame that is no fact of a review. `place` lets the client resume from it. */
  say(data: object, place: Place | null): void {
    this.#write(`${place ? `id: ${frameId(place)}\n` : ''}data: ${JSON.stringify(data)}\n\n`);
  }

  heartbeat(): void {
    this.#write(':\n\n');
  }

  /** Ends the stream in order; the client may come again with its last id. */
  end(): void {
    if (!this.#open) return;
    this.#open = false;
    this.response.end();
  }

  /** Breaks the connection: the reader does not keep up, and what it missed is replayed when it comes again. */
  cutOff(): void {
    this.#open = false;
    this.response.destroy();
  }

  #send(frame: Frame): void {
    if (!isAfter(frame, this.#after)) return;
    this.#after = { position: frame.position, index: frame.index };
    this.#write(`id: ${frameId(this.#after)}\ndata: ${frame.data}\n\n`);
  }

  #write(text: string): void {
    if (!this.#open) return;
    this.response.write(text);
    if (this.response.writableLength > this.bufferBytes) this.cutOff();
  }
}

/** Keys see their project as far as their templates go, people the projects they may read reviews in. */
export function maySee(actor: AgentActor | PersonActor, frame: Frame): boolean {
  if (actor.kind === 'agent') {
    return actor.project_id === frame.project_id && (actor.template_ids === null || actor.template_ids.includes(frame.template_id));
  }
  return actor.roles[frame.project_id] !== undefined && mayRead({ ...actor, project_id: frame.project_id });
}

export function mayRead(actor: Actor): boolean {
  return scopesOf(actor).includes('reviews:read');
}

/** Where a stream begins that has nothing to resume: after everything up to a position. */
export function wholeEvent(position: number): Place {
  return { position, index: WHOLE_EVENT };
}

/** False when the socket had no room for too long. */
function drained(response: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (inTime: boolean) => {
      clearTimeout(timeout);
      response.off('drain', onRoom).off('close', onRoom);
      resolve(inTime);
    };
    const onRoom = () => settle(true);
    const timeout = setTimeout(() => settle(false), LONGEST_WAIT_MS);
    response.on('drain', onRoom).on('close', onRoom);
  });
}
