import type { Caller } from './server.js';

export interface Frame {
  type: string;
  review_id?: string;
  [more: string]: unknown;
}

/** An agent's side of the event stream (HRP §6.3, decision 13). */
export class Stream {
  readonly frames: Frame[] = [];
  readonly ids: string[] = [];
  #ended: Promise<void>;
  #wake = Promise.withResolvers<void>();

  private constructor(
    response: Response,
    private readonly abort: AbortController,
    private readonly onFrame: (frame: Frame, id: string) => void,
  ) {
    this.#ended = this.#read(response).catch(() => {});
  }

  /** @param onFrame gets each frame that has a place, as it comes. */
  static async open(caller: Caller, lastEventId?: string, onFrame: (frame: Frame, id: string) => void = () => {}): Promise<Stream> {
    const abort = new AbortController();
    const response = await fetch(`${caller.url}/api/v1/events/stream`, {
      headers: { authorization: `Bearer ${caller.bearer}`, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) },
      signal: abort.signal,
    });
    if (!response.ok) throw new Error(`The stream answered ${response.status}: ${await response.text()}`);
    return new Stream(response, abort, onFrame);
  }

  get lastEventId(): string | undefined {
    return this.ids.at(-1);
  }

  /** Resolves when the connection is gone, whoever ended it. */
  get ended(): Promise<void> {
    return this.#ended;
  }

  async until(condition: (frame: Frame) => boolean): Promise<void> {
    const late = setTimeout(() => this.abort.abort(), 30_000);
    while (!this.frames.some(condition)) {
      if (this.abort.signal.aborted) throw new Error(`The frame did not come; there were ${JSON.stringify(this.frames)}`);
      await Promise.race([this.#wake.promise, this.#ended.then(() => this.abort.abort())]);
    }
    clearTimeout(late);
  }

  async close(): Promise<void> {
    this.abort.abort();
    await this.#ended;
  }

  async #read(response: Response): Promise<void> {
    let text = '';
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk;
      const blocks = text.split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) this.#block(block);
    }
  }

  #block(block: string): void {
    let id: string | null = null;
    for (const line of block.split('\n')) {
      if (line.startsWith('id: ')) {
        id = line.slice(4);
        this.ids.push(id);
      }
      if (line.startsWith('data: ')) {
        const frame = JSON.parse(line.slice(6)) as Frame;
        this.frames.push(frame);
        if (id !== null) this.onFrame(frame, id);
      }
    }
    this.#wake.resolve();
    this.#wake = Promise.withResolvers<void>();
  }
}
