import { type AuditEvent, type AuditList, type AuditVerification, type ErrorBody, operationOf, validator } from '@countersign/contracts';
import { catalogDump } from '@countersign/database';
import { rebuildProjection } from '@countersign/event-bus';
import { newId, redactStream, uuidOf } from '@countersign/event-store';
import { agent, ann, doing, foreignAgent, OTHER_PROJECT, PAYLOAD, PROJECT } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { AUDIT_PROJECTION } from './index.js';
import { type Server, startServer } from './server-fixture.js';

let server: Server;
let review: string;

beforeAll(async () => {
  server = await startServer();
  review = await server.ask();
  await server.decide(review, ann, doing(ann, 'request_changes', { feedback: 'Shorter.' }));
  await server.ask({ actor: foreignAgent }, { project_id: OTHER_PROJECT });
  await server.decide(await server.ask(), ann, doing(ann, 'approve'));
});
afterAll(() => server.close());

async function everything(): Promise<AuditEvent[]> {
  const { body } = await server.raw('/api/v1/audit/export');
  return (body as Buffer)
    .toString()
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as AuditEvent);
}

describe('the audit log', () => {
  it('says who did what, newest first, and only of the own project', async () => {
    const { body } = await server.call<AuditList>('listAuditEvents');
    expect(body.items.map((item) => [item.action, item.actor.split(':')[0]])).toEqual([
      ['review.decided', 'person'],
      ['review.requested', 'agent'],
      ['review.changes_requested', 'person'],
      ['review.requested', 'agent'],
    ]);
    expect(body).toMatchObject({ total: 4, has_more: false });
  });

  it('is filtered and paged', async () => {
    const requests = await server.call<AuditList>('listAuditEvents', { query: 'action=review.requested&action=review.decided' });
    expect(requests.body.total).toBe(3);
    const one = await server.call<AuditList>('listAuditEvents', { query: `resource_id=${review}&limit=1` });
    expect(one.body).toMatchObject({ total: 2, has_more: true, items: [{ action: 'review.changes_requested', resource_id: review }] });
    const next = await server.call<AuditList>('listAuditEvents', {
      query: `resource_id=${review}&limit=1&cursor=${one.body.next_cursor}`,
    });
    expect(next.body.items).toMatchObject([{ action: 'review.requested', prev_signature: null }]);
    expect(one.body.items[0]?.prev_signature).toBe(next.body.items[0]?.signature);
    const people = await server.call<AuditList>('listAuditEvents', { query: `actor=person:${ann.person_id}` });
    expect(people.body.total).toBe(2);
    const byOffset = await server.call<AuditList>('listAuditEvents', { query: 'offset=1&limit=2' });
    const all = await server.call<AuditList>('listAuditEvents');
    expect(byOffset.body).toMatchObject({ total: 4, has_more: true, items: all.body.items.slice(1, 3) });
    const total = async (query: string) => (await server.call<AuditList>('listAuditEvents', { query })).body.total;
    expect([await total('resource_type=review'), await total('resource_type=template')]).toEqual([4, 0]);
    const newest = all.body.items[0]?.created_at ?? '';
    const before = all.body.items.filter(({ created_at }) => created_at < newest).length;
    expect([await total(`to=${newest}`), await total('to=2999-01-01T00:00:00Z')]).toEqual([before, 4]);
    expect([await total(`from=${newest}`), await total('from=2999-01-01T00:00:00Z')]).toEqual([4 - before, 0]);
  });

  it('counts up to ten thousand, and says that it stopped there', async () => {
    const { rowCount } = await server.db.ownerPool.query(
      `insert into audit.log select (jsonb_populate_record(null::audit.log, to_jsonb(l) || jsonb_build_object('position', -n))).*
       from (select * from audit.log where project = $1 limit 1) l, generate_series(1, 10000) n`,
      [PROJECT],
    );
    expect(rowCount).toBe(10_000);
    const { body } = await server.call<AuditList>('listAuditEvents', { query: 'limit=1' });
    expect(body).toMatchObject({ total: 10_000, total_is_capped: true, has_more: true });
    await server.db.ownerPool.query('delete from audit.log where position < 0');
    const { body: again } = await server.call<AuditList>('listAuditEvents', { query: 'limit=1' });
    expect([again.total, again.total_is_capped]).toEqual([4, undefined]);
  });

  it('is exported line by line, oldest first, each line as the contract says', async () => {
    const lines = await everything();
    const valid = validator(operationOf('exportAudit').responses[200], 'exact');
    expect(lines.map((line) => valid(line).ok)).toEqual([true, true, true, true]);
    expect(lines.map((line) => line.position)).toEqual([...lines.map((line) => line.position)].sort((a, b) => a - b));
  });

  it('is not for a key that is limited to some templates', async () => {
    const limited = { ...agent, template_ids: [newId('tpl')] };
    for (const operation of ['listAuditEvents', 'exportAudit', 'verifyAudit'] as const) {
      const { status, body } = await server.call<ErrorBody>(operation, { actor: limited });
      expect([operation, status, body.error.code]).toEqual([operation, 403, 'template_not_allowed']);
    }
  });

  it('verifies, and names the first bad position after somebody changed a row', async () => {
    const sound = await server.call<AuditVerification>('verifyAudit');
    expect(sound.body).toMatchObject({ valid: true, first_bad: null, redacted: 0 });
    const { rows } = await server.db.ownerPool.query<{ position: number }>(
      'select position from event_store.events where stream = $1 and version = 1',
      [uuidOf(review)],
    );
    const tamper = async (body: string) => {
      await server.db.ownerPool.query(
        `begin; set local session_replication_role = replica;
         update event_store.events set body = ${body} where position = ${Number(rows[0]?.position)}; commit`,
      );
    };
    await tamper(`replace(body, 'Hello', 'Hollo')`);
    const { body } = await server.call<AuditVerification>('verifyAudit');
    expect(body).toMatchObject({ valid: false, first_bad: { position: rows[0]?.position, stream: review } });
    const hidden = await server.call<AuditVerification>('verifyAudit', { actor: foreignAgent });
    expect(hidden.body.first_bad).toMatchObject({ position: rows[0]?.position, stream: null });
    await tamper(`replace(body, 'Hollo', 'Hello')`);
    expect((await server.call<AuditVerification>('verifyAudit')).body.valid).toBe(true);
  });

  it('verifies a range, and no more than one request can', async () => {
    expect((await server.call<AuditVerification>('verifyAudit', { query: 'from=2&to=3' })).body).toMatchObject({
      valid: true,
      verified_from: 2,
      verified_to: 3,
      events: 2,
    });
    const refused = async (query: string) => {
      const { status, body } = await server.call<ErrorBody>('verifyAudit', { query });
      return [status, body.error.code, body.error.param];
    };
    expect(await refused('from=3&to=2')).toEqual([400, 'invalid_request', 'query.from']);
    expect(await refused('from=1000')).toEqual([400, 'invalid_request', 'query.from']);
  });
});

/** Every row of every table, in one order. */
async function dump(): Promise<string> {
  const tables = AUDIT_PROJECTION.tables.map(async (table) => {
    const { rows } = await server.db.ownerPool.query<{ row: string }>(`select to_jsonb(t)::text as row from audit.${table} t order by 1`);
    return rows.map(({ row }) => `${table} ${row}`).join('\n');
  });
  return (await Promise.all(tables)).join('\n');
}
const caughtUp = async () => server.bus.caughtUp('audit', (await server.store.head()).position, 'all', 60_000);
const deps = () => ({ owner: server.db.ownerPool, store: server.store });

describe('a rebuild', () => {
  it('gives the same tables', async () => {
    await caughtUp();
    const before = await dump();
    const { events } = await rebuildProjection(AUDIT_PROJECTION, deps());
    expect(events).toBe((await server.store.head()).position);
    expect(await dump()).toBe(before);
  });

  it('leaves tables, keys, indexes and grants as the migrations made them', async () => {
    const shape = () => catalogDump(server.db.ownerPool, ['audit']);
    const before = await shape();
    await rebuildProjection(AUDIT_PROJECTION, deps());
    expect(await shape()).toBe(before);
    expect(before).toContain('reviews_in_order');
  });

  it('loses and doubles nothing while reviews are asked and decided, and readers are answered all the time', async () => {
    let going = true;
    const writer = async () => {
      while (going) await server.decide(await server.ask(), ann, doing(ann, 'approve'));
    };
    const statuses = new Set<number>();
    const reader = async () => {
      while (going) statuses.add((await server.call('listReviews')).status);
    };
    const load = Promise.all([writer(), writer(), reader()]);
    for (const _ of [1, 2, 3]) await rebuildProjection(AUDIT_PROJECTION, deps());
    going = false;
    await load;
    await caughtUp();
    const lived = await dump();
    await rebuildProjection(AUDIT_PROJECTION, deps());
    expect(await dump()).toBe(lived);
    expect([...statuses]).toEqual([200]);
    expect(await server.bus.parked('audit')).toEqual([]);
  });
});

describe('erasure', () => {
  it('takes a review out of lists, feedback and the details of the log, and leaves the proof valid', async () => {
    await server.db.ownerPool.query('select event_store.redact_stream($1, $2)', [uuidOf(review), 'asked for']);
    await caughtUp();
    expect((await server.call('getReview', { path: { id: review } })).status).toBe(404);
    const { rows } = await server.db.ownerPool.query('select 1 from audit.reviews where state::text like $1', ['%Shorter.%']);
    expect(rows).toEqual([]);
    const log = (await everything()).filter((line) => line.resource_id === review);
    expect(log.filter((line) => line.action !== 'stream.redacted').every((line) => line.redacted)).toBe(true);
    const { body } = await server.call<AuditVerification>('verifyAudit');
    expect(body.valid).toBe(true);
    expect(body.redacted).toBeGreaterThan(0);
  });

  it('of one that was given, edited, decided and executed leaves no word of it in any table, and a rebuild gives the same', async () => {
    const asked = {
      body: { assignee: 'erased@example.org', metadata: { of: 'erased metadata' }, payload: { ...PAYLOAD, subject: 'erased subject' } },
    };
    const erased = await server.ask(asked);
    await server.decide(erased, ann, doing(ann, 'approve', { edited_payload: { body: 'erased edit' }, feedback: 'erased feedback' }));
    const alone = await server.ask(asked);
    await server.decide(await server.ask(), ann, doing(ann, 'approve'));
    await caughtUp();
    const words = ['erased subject', 'erased edit', 'erased feedback', 'erased metadata', 'erased@example.org'];
    const before = await dump();
    expect(words.filter((word) => !before.includes(word))).toEqual([]);
    const actors = async () =>
      new Set((await everything()).filter((line) => line.resource_id === erased).map((line) => line.actor.split(':')[0]));
    expect(await actors()).toEqual(new Set(['agent', 'person']));

    await redactStream(server.db.ownerPool, { stream: erased, reason: 'asked for', metadata: true });
    await redactStream(server.db.ownerPool, { stream: alone, reason: 'asked for' });
    await caughtUp();
    const lived = await dump();
    expect(words.filter((word) => lived.includes(word))).toEqual([]);
    expect(await actors()).toEqual(new Set(['system']));
    await rebuildProjection(AUDIT_PROJECTION, deps());
    expect(await dump()).toBe(lived);
    expect(await server.bus.parked('audit')).toEqual([]);
  });
});
