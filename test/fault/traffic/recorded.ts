/** What a run left behind, as the judge is given it. */
import type { Review } from '@countersign/contracts';
import { idOf } from '@countersign/event-store';
import type { Caller } from '../../e2e/server.js';
import type { Fact, FactBody, History } from '../judge/history.js';
import { standingOf } from './recorder.js';
import type { Traffic } from './traffic.js';

interface Row {
  position: string;
  stream: string;
  version: number;
  id: string;
  type: string;
  time: Date;
  body: FactBody;
}

async function factsOf({ server, since }: Traffic): Promise<Fact[]> {
  const rows = await server.topology.query<Row & Record<string, unknown>>(
    `select e.position, e.stream, e.version, e.id, e.type, e.time, e.body::json as body
       from event_store.events e join event_store.streams s using (stream)
      where s.category = 'review' and s.first_position > $1 order by e.position`,
    [since],
  );
  return rows.map(({ position, stream, version, id, type, time, body }) => ({
    position: Number(position),
    stream: idOf('rev', stream),
    version,
    id: idOf('evt', id),
    type,
    time: time.toISOString(),
    body,
  }));
}

async function chainOf({ server, since }: Traffic): Promise<History['chain']> {
  const [range] = await server.topology.query<{ last: string; count: string }>(
    'select max(position) as last, count(*) as count from event_store.events where position > $1',
    [since],
  );
  const { valid } = await server.admin.do('verifyAudit', { query: { from: since + 1 } });
  return { valid, first: since + 1, last: Number(range?.last), count: Number(range?.count) };
}

/** Page by page, as the inbox reads it, until a page holds none of the run's. */
async function listOf(caller: Caller, ids: ReadonlySet<string>): Promise<History['views'][string]> {
  const found: Review[] = [];
  for (const priority of ['low', 'normal', 'high'] as const) {
    let cursor: string | undefined;
    do {
      const page = await caller.do('listReviews', { query: { limit: 100, priority, ...(cursor === undefined ? {} : { cursor }) } });
      const own = page.items.filter(({ id }) => ids.has(id));
      found.push(...own);
      cursor = own.length > 0 ? page.next_cursor : undefined;
    } while (cursor !== undefined);
  }
  return found.map((review) => ({
    ...(standingOf(review) as NonNullable<ReturnType<typeof standingOf>>),
    approved_digest: review.approved_digest,
  }));
}

export async function recorded(traffic: Traffic): Promise<History> {
  const { server, recorder, listener, arrivals, unsigned } = traffic;
  const facts = await factsOf(traffic);
  const ids = new Set(facts.map(({ stream }) => stream));
  const [agent, reviewer] = await Promise.all([server.agent, server.reviewer].map((caller) => listOf(caller, ids)));
  return {
    facts,
    chain: await chainOf(traffic),
    answers: recorder.answers,
    arrivals,
    unsigned,
    frames: listener.frames.filter(({ type, review_id }) => type === 'reset' || ids.has(review_id ?? '')),
    views: { agent: agent ?? [], reviewer: reviewer ?? [] },
  };
}
