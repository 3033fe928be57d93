/**
 * A pool whose queries are spans of whatever trace they are made in (semantic conventions for PostgreSQL). Used while telemetry is on.
 *
 * T1 No statement is sent, nor a parameter: the span bears the query's name, or its verb and first table.
 * T2 A query outside of a trace, such as a poll, is not traced.
 * T3 A caller that had to wait for a connection gets it in its own trace, and not in that of whoever gave it back.
 */
import { bound, errorType, inTrace, observe, startSpan } from '@countersign/telemetry';
import pg from 'pg';

type Query = (this: pg.Client, ...args: unknown[]) => unknown;
type Callback = (error: unknown, ...rest: unknown[]) => void;

export class TracedPool extends pg.Pool {
  readonly #unobserve: () => void;

  constructor(config: pg.PoolConfig & { application_name?: string }) {
    super({ ...config, Client: TracedClient });
    const name = { 'db.client.connection.pool.name': config.application_name ?? 'pg' };
    this.#unobserve = observe(['poolConnections', 'poolMax', 'poolWaiting'], (report) => {
      report('poolConnections', this.idleCount, { ...name, 'db.client.connection.state': 'idle' });
      report('poolConnections', this.totalCount - this.idleCount, { ...name, 'db.client.connection.state': 'used' });
      report('poolMax', this.options.max, name);
      report('poolWaiting', this.waitingCount, name);
    });
    const connect = this.connect.bind(this) as (callback?: Callback) => unknown;
    Object.defineProperty(this, 'connect', {
      value: (callback?: Callback) => connect(callback && bound(callback)),
    });
    const end = this.end.bind(this) as () => Promise<void>;
    Object.defineProperty(this, 'end', {
      value: () => {
        this.#unobserve();
        return end();
      },
    });
  }
}

class TracedClient extends pg.Client {}

const plainQuery = pg.Client.prototype.query as Query;

Object.defineProperty(TracedClient.prototype, 'query', {
  value: function (this: pg.Client, ...args: unknown[]): unknown {
    const name = inTrace() ? summaryOf(args[0]) : undefined;
    if (name === undefined) return plainQuery.apply(this, args);
    const span = startSpan(name, {
      kind: 'client',
      attributes: {
        'db.system.name': 'postgresql',
        'db.namespace': this.database,
        'db.query.summary': name,
        'server.address': this.host,
        'server.port': this.port,
      },
    });
    const ended = (error?: unknown) => {
      if (error) {
        span.fail(errorType(error));
        span.set({ 'db.response.status_code': errorType(error) });
      }
      span.end();
    };
    const callback = args.at(-1);
    if (typeof callback === 'function') {
      args[args.length - 1] = (error: unknown, ...rest: unknown[]) => {
        ended(error);
        (callback as Callback)(error, ...rest);
      };
      return plainQuery.apply(this, args);
    }
    const answer = plainQuery.apply(this, args) as Promise<unknown>;
    answer.then(() => ended(), ended);
    return answer;
  },
});

const summaries = new Map<string, string>();
const MOST_SUMMARIES = 1_000;

/** What a query is called; undefined for what is no text, such as a cursor, which reports by itself. */
function summaryOf(query: unknown): string | undefined {
  if (typeof query === 'string') return summaryOfText(query);
  const { name, text, submit } = (query ?? {}) as { name?: unknown; text?: unknown; submit?: unknown };
  if (typeof submit === 'function') return undefined;
  return typeof name === 'string' ? name : typeof text === 'string' ? summaryOfText(text) : undefined;
}

function summaryOfText(text: string): string {
  const known = summaries.get(text);
  if (known !== undefined) return known;
  const verb = /^\s*([a-z]+)/i.exec(text)?.[1]?.toUpperCase() ?? 'QUERY';
  const target = /\b(?:from|into|update|table)\s+([a-z_]+\.[a-z_]+)/i.exec(text)?.[1];
  const summary = target ? `${verb} ${target}` : verb;
  if (summaries.size >= MOST_SUMMARIES) summaries.clear();
  summaries.set(text, summary);
  return summary;
}
