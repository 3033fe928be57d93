import { until } from '@countersign/platform/fixture';
import type { Topology } from './topology.js';

/** What moves by itself: leases, heartbeats, cursors; and counters of who came, which say nothing about what they did. */
const RESTLESS = new Set(['gateway.rate_limits', 'directory.key_uses', 'directory.login_failures', 'directory.known_devices']);
/** A session is seen whenever it is used; only how many there are is a fact. */
const COUNTED = new Set(['directory.sessions', 'directory.person_sign_ins', 'event_store.appenders']);

const questions = new WeakMap<Topology, Promise<string>>();

/** One statement that reads every table, and says whether every consumer has handled the log to its end. */
async function questionOf(topology: Topology): Promise<string> {
  const tables = await topology.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema', 'event_bus') order by 1`,
  );
  const contents = tables
    .map(({ name }) => name)
    .filter((name) => !RESTLESS.has(name))
    .map((name) => {
      const content = COUNTED.has(name) ? 'null' : "md5(string_agg(t::text, '|' order by t::text))";
      return `select '${name}' as name, concat(count(*), ' rows ', ${content}) as content from ${name} t`;
    });
  const settled =
    "select 'settled' as name, (min(c.position) >= (select position from event_store.head))::text as content from event_bus.cursors c";
  return [settled, ...contents].join(' union all ');
}

/**
 * Everything the product holds, table by table: where the log ends, how many rows there are and what stands in them. Two that are equal say
 * that nothing was stored in between. Taken once every consumer has handled the log to its end.
 */
export async function footprint(topology: Topology): Promise<Record<string, string>> {
  const question = questions.get(topology) ?? questionOf(topology);
  questions.set(topology, question);
  return until('every consumer to be at the end of the log', async () => {
    const rows = await topology.query<{ name: string; content: string }>(await question);
    const { settled, ...contents } = Object.fromEntries(rows.map(({ name, content }) => [name, content]));
    return settled === 'true' && contents;
  });
}
