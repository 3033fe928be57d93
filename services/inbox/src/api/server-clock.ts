/**
 * The server's time, from the `Date` of its answers: deadlines are the server's, and the clock of this machine may be minutes off.
 *
 * `Date` is cut to whole seconds, so an answer only says that the server's clock stood somewhere in one second, at some moment between the
 * call and its answer. What several answers say together is narrower. An answer that contradicts the others means that a clock was set:
 * it counts alone.
 */
export class ServerClock {
  #least = Number.NEGATIVE_INFINITY;
  #most = Number.POSITIVE_INFINITY;

  constructor(private readonly local: () => number = Date.now) {}

  /** @param sent and @param received local milliseconds of the call and of its answer's head. */
  observe(date: string | null, sent: number, received: number): void {
    const second = date === null ? Number.NaN : Date.parse(date);
    if (Number.isNaN(second)) return;
    const [least, most] = [second - received, second + 999 - sent];
    const fits = least <= this.#most && most >= this.#least;
    this.#least = fits ? Math.max(this.#least, least) : least;
    this.#most = fits ? Math.min(this.#most, most) : most;
  }

  /** Milliseconds since the epoch. */
  now(): number {
    return this.local() + this.#offset();
  }

  #offset(): number {
    return Number.isFinite(this.#least) ? (this.#least + this.#most) / 2 : 0;
  }
}
