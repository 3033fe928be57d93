const PATIENCE_MS = 30_000;
const POLL_MS = 10;

/**
 * Looks until it holds; however long the whole takes, it goes on while what is seen changes.
 * @throws with what was seen last, once that has stayed the same for half a minute: less than the lease of a delivery, or what was made good
 *   when a lease ended would pass for what should have happened.
 */
export async function until<T>(look: () => T | Promise<T>, holds: (seen: T) => boolean): Promise<T> {
  let last: string | undefined;
  let deadline = 0;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    const said = String(JSON.stringify(seen));
    if (said !== last) deadline = Date.now() + PATIENCE_MS;
    last = said;
    if (Date.now() > deadline) throw new Error(`Waited in vain; last seen: ${said.slice(0, 2_000)}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
