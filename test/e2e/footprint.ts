import type { Topology } from './topology.js';

/** What moves by itself: leases, heartbeats, cursors; and counters of who came, which say nothing about what they did. */
const RESTLESS = new Set(['gateway.rate_limits', 'directory.key_uses', 'directory.login_failures', 'directory.known_devices']);
/** A session is seen whenever it is used; only how many there are is a fact. */
const COUNTED = new Set(['directory.sessions', 'directory.person_sign_ins', 'event_store.appenders']);

/**
 * Everything the product holds, table by table: where the log ends, how many rows there are and what stands in them. Two that are equal say
 * that nothing was stored in between.
 */
export async function footprint(topology: Topology): Promise<Record<string, string>> {
  const tables = await topology.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables
      where schemaname not in ('pg_catalog', 'information_schema', 'event_bus') order by 1`,
  );
  const kept = tables.map(({ name }) => name).filter((name) => !RESTLESS.has(name));
  const rows = await topology.query<{ name: string; content: string }>(
    kept
      .map((name) => {
        const content = COUNTED.has(name) ? 'null' : "md5(string_agg(t::text, '|' order by t::text))";
        return `select '${name}' as name, concat(count(*), ' rows ', ${content}) as content from ${name} t`;
      })
      .join(' union all '),
  );
  return Object.fromEntries(rows.map(({ name, content }) => [name, content]));
}
