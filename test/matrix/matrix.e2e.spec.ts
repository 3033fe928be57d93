/**
 * Who may do what, for every operation of the table and every kind of actor, through the running product and on real objects (decisions 7, 10,
 * 15, 19, 30). What each cell is stands in the rows; the last tests read the log, which no cell may have brought to say that software decided.
 */
import {
  type AuditEvent,
  ERRORS,
  errorsOf,
  isErrorCode,
  OPERATIONS,
  type Operation,
  type OperationId,
  operationOf,
  type Stats,
} from '@countersign/contracts';
import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Server } from '../e2e/server.js';
import { startAllInOne } from '../e2e/topology.js';
import { expected, isUnknown, type Outcome } from './access.js';
import { ACTORS, type Actor, assemble, type Cast } from './actors.js';
import type { Attempt } from './attempt.js';
import type { Row } from './row.js';
import { ROWS } from './rows.js';
import { Stage } from './stage.js';

jest.setTimeout(180_000);

let server: Server;
let cast: Cast;
let stage: Stage;
beforeAll(async () => {
  server = await Server.start(await startAllInOne({ PASSWORD_COST: '10' }));
  cast = await assemble(server);
  stage = new Stage(cast);
});
afterAll(() => server?.stop());

interface Answered {
  outcome: Outcome;
  body: Record<string, unknown>;
  text: string;
}

async function send(id: OperationId, actor: Actor, { path = {}, query = {}, body, headers }: Attempt): Promise<Answered> {
  const { method, path: template } = operationOf(id);
  const filled = template.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(path[name] ?? ''));
  const left = new AbortController();
  const response = await fetch(`${server.url}${filled}?${new URLSearchParams(query)}`, {
    method,
    headers: { ...(headers ?? cast.headers[actor]), ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body && JSON.stringify(body),
    signal: left.signal,
  });
  const type = response.headers.get('content-type') ?? '';
  if (type.startsWith('text/event-stream')) {
    left.abort();
    return { outcome: String(response.status), body: {}, text: '' };
  }
  const text = await response.text();
  const json = type.startsWith('application/json') && text !== '' ? JSON.parse(text) : null;
  if (type.startsWith('application/json') || response.status >= 400 || text === '') server.answers.check(id, response.status, type, json);
  const code = response.status >= 400 ? (json?.error?.code as string) : undefined;
  return { outcome: code ? `${response.status} ${code}` : String(response.status), body: json ?? {}, text };
}

/** A review or template as those see it who may. */
async function stateOf(object: Attempt['untouched']): Promise<unknown> {
  if (object === undefined) return null;
  if ('review' in object) return server.admin.do('getReview', { path: { id: object.review } });
  return (await server.admin.try('getTemplate', { path: { id: object.template } })).body;
}

const succeeds = (outcome: Outcome): boolean => /^2\d\d$/.test(outcome);

async function walk(id: OperationId, row: Row): Promise<void> {
  const actors = row === ROWS[id][0] ? ACTORS : ACTORS.filter((actor) => !isUnknown(actor));
  const due = Object.fromEntries(actors.map((actor) => [actor, expected(row, actor)])) as Record<Actor, Outcome>;
  const refused = actors.filter((actor) => !succeeds(due[actor]));
  const shared = new Map<Actor, Attempt>();
  if (refused.length > 0) {
    const attempt = await row.attempt(stage, refused[0] as Actor, cast);
    for (const actor of refused) shared.set(actor, attempt);
  }
  const before = await stateOf(shared.get(refused[0] as Actor)?.untouched);
  const answers = await Promise.all(
    actors.map(async (actor) => {
      const attempt = shared.get(actor) ?? (await row.attempt(stage, actor, cast));
      return [actor, await send(id, actor, attempt)] as const;
    }),
  );
  expect(Object.fromEntries(answers.map(([actor, { outcome }]) => [actor, outcome]))).toEqual(due);
  expect(await stateOf(shared.get(refused[0] as Actor)?.untouched)).toEqual(before);
  for (const [actor, { body, text, outcome }] of answers) {
    if (actor.startsWith("another project's")) expect(text).not.toContain(cast.ids.project);
    if (!succeeds(outcome) || row.proves === undefined) continue;
    const [said, is] = row.proves(body, actor, cast);
    expect([actor, said]).toEqual([actor, is]);
  }
}

describe('the matrix', () => {
  it('has a row for every operation, and for nothing else', () => {
    expect(Object.keys(ROWS).sort()).toEqual(OPERATIONS.map((operation) => operation.id).sort());
  });

  it('names outcomes that the contract of the operation has', () => {
    for (const operation of OPERATIONS as readonly (Operation & { id: OperationId })[]) {
      for (const row of ROWS[operation.id]) {
        for (const actor of ACTORS) {
          const [status = '', code] = expected(row, actor).split(' ');
          if (code === undefined) expect(Object.keys(operation.responses)).toContain(status);
          else if (isErrorCode(code))
            expect([code, ERRORS[code].status, errorsOf(operation).includes(code)]).toEqual([code, Number(status), true]);
          else throw new Error(`There is no code ${code}.`);
        }
      }
    }
  });

  describe.each(Object.entries(ROWS) as [OperationId, readonly Row[]][])('%s', (id, rows) => {
    it.each(rows.map((row) => [row.tries, row] as const))('%s', (_, row) => walk(id, row));
  });
});

describe('after all that was tried', () => {
  const log: AuditEvent[] = [];
  beforeAll(async () => {
    const everything = async () => {
      // Nobody has a role in both projects, so each person's rows are told once.
      return (await server.topology.query<{ count: number }>('select count(*)::int as count from event_store.events'))[0]?.count;
    };
    await until('the log to be told', async () => {
      const lists = [server.admin, cast.strangersAdmin].map((admin) => admin.do('listAuditEvents', { query: { limit: 1 } }));
      const totals = (await Promise.all(lists)).map(({ total }) => total);
      return totals.reduce((sum, total) => sum + total, 0) === (await everything());
    });
    for (const admin of [server.admin, cast.strangersAdmin]) {
      const response = await fetch(`${server.url}/api/v1/audit/export`, { headers: { authorization: `Bearer ${admin.bearer}` } });
      for (const line of (await response.text()).split('\n')) if (line !== '') log.push(JSON.parse(line) as AuditEvent);
    }
  });
  const events = (action: string) => log.filter((event) => event.action === action);

  it('the log says of every decision that a person made it who had proved themselves, or by which rule no person was needed', () => {
    const decisions = events('review.decided').map(({ details, actor }) => ({ details, actor }));
    const by = (kind: string) => decisions.filter(({ details }) => (details.decided_by as { kind: string }).kind === kind);
    expect(by('person').length).toBeGreaterThan(20);
    expect(by('system').length).toBeGreaterThan(2);
    expect(by('person').length + by('system').length).toBe(decisions.length);
    const people = new Set(
      ['holder', 'reviewer', 'admin', 'owner of the key', 'person it was asked for'].map((who) => cast.credentials[who as 'holder'].email),
    );
    for (const { details, actor } of by('person')) {
      const { decided_by, proof, trigger } = details as { decided_by: { id: string; email: string }; proof: object; trigger: string };
      expect(proof).toMatchObject({ method: 'password', session_id: expect.stringMatching(/^ses_/) });
      expect([people.has(decided_by.email), trigger]).toEqual([true, 'action']);
      expect(actor).toContain(decided_by.id);
    }
    for (const { details } of by('system')) {
      expect(details).toMatchObject({ decided_by: { id: 'system/auto-approve' }, trigger: 'auto_approve', proof: null, acted_by: null });
    }
  });

  it('nobody has approved what they answer for', () => {
    type Asked = { requester: { owner: string | null; former_owners?: string[] }; on_behalf_of: { person_id: string } | null };
    const answerable = new Map(
      events('review.requested').map(({ resource_id, details }) => {
        const { requester, on_behalf_of } = details as unknown as Asked;
        return [resource_id, [requester.owner, ...(requester.former_owners ?? []), on_behalf_of?.person_id]];
      }),
    );
    let rejectedByThem = 0;
    for (const { resource_id, details } of events('review.decided')) {
      const { decided_by, decision } = details as { decided_by: { id: string }; decision: string };
      if (!answerable.get(resource_id)?.includes(decided_by.id)) continue;
      expect(decision).toBe('rejected');
      rejectedByThem++;
    }
    expect(rejectedByThem).toBeGreaterThan(0);
  });

  it('whatever lets software or the clock approve was put in force by a person', () => {
    type Published = {
      config: { auto_approve: boolean; timeout_action: string | null; allow_timeout_auto_approve: boolean };
      by: { kind: string };
    };
    const lets = events('template.published').filter(({ details }) => {
      const { auto_approve, timeout_action, allow_timeout_auto_approve } = (details as unknown as Published).config;
      return auto_approve || timeout_action === 'auto_approve' || allow_timeout_auto_approve;
    });
    expect(lets.length).toBeGreaterThan(20);
    expect(new Set(lets.map(({ details }) => (details as unknown as Published).by.kind))).toEqual(new Set(['person']));
  });

  it('no act of a person on a review is an agent’s', () => {
    for (const action of ['changes_requested', 'action_taken', 'iteration_cancelled', 'claimed', 'released', 'assigned']) {
      const acts = events(`review.${action}`);
      expect([action, acts.length > 0]).toEqual([action, true]);
      for (const { details } of acts) expect((details.by as { kind: string }).kind).toBe('person');
    }
  });

  it('a key counts the reviews of its own templates, on every day, and no others', async () => {
    const counted = async (actor: Actor) => {
      const { body } = await send('getStats', actor, {});
      const { total, reviews_per_day } = body as unknown as Stats;
      return [total, reviews_per_day.reduce((sum, { count }) => sum + count, 0)];
    };
    const [all = 0, onAllDays] = await counted('requesting key');
    const [own = 0, onOwnDays] = await counted('key of another template');
    expect([onAllDays, onOwnDays]).toEqual([all, own]);
    expect(all).toBeGreaterThan(own + 50);
  });

  it('the log verifies, and nothing was a fault of the server', async () => {
    expect(await server.admin.do('verifyAudit')).toMatchObject({ valid: true, first_bad: null });
    expect(server.topology.inspect().log).toBe('');
  });
});
