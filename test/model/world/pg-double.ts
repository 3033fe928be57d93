/** In the place of `pg` for the one connection that listens (libs/event-bus/src/feed/listener.ts): it hears what commits, and holds its advisory lock. */
import { Machine } from './machine.js';
import { here } from './outside.js';

type Handler = (message: { channel: string }) => void;

export class Client {
  readonly #machine = here().current as Machine;
  readonly #handlers = new Map<string, Handler[]>();
  #session: number | null = null;
  #unlisten: (() => void) | null = null;
  #over = false;

  on(name: string, handler: Handler): this {
    this.#handlers.set(name, [...(this.#handlers.get(name) ?? []), handler]);
    return this;
  }

  connect(): Promise<void> {
    return this.#machine.reach('listener connects', () => {
      this.#machine.connections.add(this);
    });
  }

  escapeIdentifier(name: string): string {
    return `"${name}"`;
  }

  query(text: string, values: number[] = []): Promise<void> {
    const { database } = this.#machine;
    return this.#machine.reach(`listener: ${text.slice(0, 30)}`, () => {
      if (this.#over) throw new Error('Connection terminated');
      if (text.startsWith('listen')) this.#unlisten = database.listen((channel) => this.#hear(channel));
      else {
        this.#session = values[0] as number;
        database.bus.sessions.add(this.#session);
      }
    });
  }

  async end(): Promise<void> {
    this.drop();
  }

  /** The connection is no more, and the server knows. */
  drop(): void {
    this.#over = true;
    this.#machine.connections.delete(this);
    this.#unlisten?.();
    if (this.#session !== null) this.#machine.database.bus.sessions.delete(this.#session);
    this.#session = null;
  }

  /** Cut on the way: this end learns of it as well. */
  cut(): void {
    this.drop();
    here().step(this.#machine, 'listener was cut', () => this.#tell('end', { channel: '' }));
  }

  #hear(channel: string): void {
    here().step(this.#machine, `hears ${channel}`, () => {
      if (!this.#over) this.#tell('notification', { channel });
    });
  }

  #tell(name: string, message: { channel: string }): void {
    for (const handler of this.#handlers.get(name) ?? []) handler(message);
  }
}
