/** Readers of the lists: the first page, a filtered one, one far down by its cursor, and the feedback, in turn. */
import type { Sample, Side } from '../figure.js';
import { Client } from '../http/client.js';
import { closedLoop } from '../measure/callers.js';
import type { Access } from '../stage/product.js';

const READERS = 4;
const PAGES_DOWN = 20;
const LIMIT = 50;

export async function start({ ...access }: Access): Promise<Side> {
  const client = new Client(access.url, READERS);
  const { session, key } = access;
  const read = async (path: string, bearer: string) =>
    JSON.parse((await client.succeed('GET', path, bearer)).body) as { next_cursor?: string; data: unknown[] };

  async function down(path: string, bearer: string): Promise<string> {
    let cursor = '';
    for (let page = 0; page < PAGES_DOWN; page++) {
      const { next_cursor } = await read(`${path}${cursor}`, bearer);
      if (next_cursor === undefined) throw new Error(`${path} has only ${page + 1} pages.`);
      cursor = `&cursor=${encodeURIComponent(next_cursor)}`;
    }
    return `${path}${cursor}`;
  }
  const list = `/api/v1/reviews?limit=${LIMIT}`;
  const found = `/api/v1/reviews?limit=${LIMIT}&status=pending&template=email-draft`;
  const feedback = `/api/v1/feedback?limit=${LIMIT}`;
  const kinds: Record<string, [path: string, bearer: string]> = {
    list: [list, session],
    found: [found, session],
    far: [await down(list, session), session],
    feedback: [await down(feedback, key), key],
  };
  return {
    async round(seconds) {
      const all: Record<string, number> = {};
      for (const [kind, [path, bearer]] of Object.entries(kinds)) {
        const sample: Sample = await closedLoop(READERS, seconds / Object.keys(kinds).length, () => client.succeed('GET', path, bearer));
        for (const [measure, value] of Object.entries(sample)) all[`${kind}_${measure}`] = value;
      }
      return all;
    },
    close: () => client.close(),
  };
}
