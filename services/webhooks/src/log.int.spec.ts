/** The delivery log over HTTP (HRP §1.4, §13); every answer is held against its contract. */

import type { AgentActor, Delivery, DeliveryDetail, DeliveryList, ErrorBody } from '@countersign/contracts';
import { newId, uuidOf } from '@countersign/event-store';
import { agent as AGENT, chief } from '@countersign/review/fixture';
import { type Received, Receiver, status, until } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';
import { dropOldBodies } from './queue/retention.js';

const STRANGER: AgentActor = { ...AGENT, key_id: newId('key'), project_id: newId('prj') };

let server: Server;
let agent: Receiver;
beforeAll(async () => {
  server = await startServer({ config: { backoff: [20, 20] } });
  agent = await new Receiver().listen();
});
afterAll(async () => {
  await server.close();
  await agent.close();
});

const list = async (query: string, actor: AgentActor = AGENT) => (await server.call<DeliveryList>('listDeliveries', { query, actor })).body;
const detail = async (id: string) => (await server.call<DeliveryDetail>('getDelivery', { params: { id } })).body;
const settled = (review: string, count = 2) =>
  until(
    () => list(`review_id=${review}`),
    ({ items }) => items.length === count && items.every((one) => one.status !== 'pending'),
  );

describe('the list', () => {
  let review: string;
  beforeAll(async () => {
    review = await server.approved(agent.url('/listed'));
    await settled(review);
    for (let n = 0; n < 4; n++) await settled(await server.approved(agent.url('/more')));
    await settled(await server.approved(agent.url('/refused', status(500))));
  });

  it('and everything else about deliveries is not for a key that is limited to some templates', async () => {
    const actor = { ...AGENT, template_ids: [newId('tpl')] };
    const params = { id: (await list('')).items[0]?.id ?? '' };
    for (const operation of ['listDeliveries', 'getDelivery', 'retryDelivery', 'replayDeliveries'] as const) {
      const { status, body } = await server.call<ErrorBody>(operation, {
        params,
        actor,
        body: operation === 'replayDeliveries' ? {} : undefined,
      });
      expect([operation, status, body.error.code]).toEqual([operation, 403, 'template_not_allowed']);
    }
  });

  it('shows newest first with the keys of the protocol and the health of the endpoint', async () => {
    const { items, total } = await list(`review_id=${review}`);
    expect(total).toBe(2);
    expect(items.map((one) => one.event_type)).toEqual(['review.decided', 'review.action_taken']);
    expect(items[0]).toEqual({
      object: 'webhook_delivery',
      id: expect.stringMatching(/^whd_/),
      review_id: review,
      event_type: 'review.decided',
      url: agent.url('/listed'),
      status: 'delivered',
      attempts: 1,
      max_attempts: 3,
      last_attempt_at: expect.any(String),
      next_attempt_at: null,
      last_error: null,
      delivered_at: expect.any(String),
      created_at: expect.any(String),
      endpoint: expect.objectContaining({ origin: new URL(agent.url()).origin, circuit: 'closed' }),
    });
  });

  it('counts the matches, not the page, under every filter', async () => {
    expect(await list('limit=1')).toMatchObject({ total: 12, has_more: true, items: [{}] });
    expect((await list('event_type=review.decided')).total).toBe(6);
    expect((await list('event_type=review.decided&event_type=review.action_taken')).total).toBe(12);
    expect((await list('status=failed')).total).toBe(2);
    expect((await list('status=failed&event_type=review.decided')).total).toBe(1);
    expect((await list('status=pending')).total).toBe(0);
    expect((await list('status=suppressed')).total).toBe(0);
    expect((await list('review_id=not-an-id')).total).toBe(0);
    const { items } = await list('limit=100');
    const middle = items[5] as Delivery;
    expect((await list(`from=${middle.created_at}`)).total).toBe(items.filter((one) => one.created_at >= middle.created_at).length);
    expect((await list(`to=${middle.created_at}`)).total).toBe(items.filter((one) => one.created_at < middle.created_at).length);
  });

  it('pages by cursor and by offset to the same order, each delivery once', async () => {
    const whole = (await list('limit=100')).items.map((one) => one.id);
    const byCursor: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await list(`limit=5${cursor ? `&cursor=${cursor}` : ''}`);
      byCursor.push(...page.items.map((one) => one.id));
      cursor = page.next_cursor;
    } while (cursor);
    const byOffset = [...(await list('limit=7')).items, ...(await list('limit=7&offset=7')).items].map((one) => one.id);
    expect(byCursor).toEqual(whole);
    expect(byOffset).toEqual(whole);
    expect(new Set(whole).size).toBe(12);
  });

  it('counts up to ten thousand, says that it stopped there, and is paged past it', async () => {
    const many = newId('rev');
    const [template] = (await list('status=delivered&limit=1')).items as [Delivery];
    const put = (from: number, to: number) =>
      server.db.ownerPool.query(
        `insert into webhooks.deliveries select (jsonb_populate_record(d, jsonb_build_object(
           'id', uuidv7(), 'review', $2::uuid, 'sequence', -n, 'created_at', d.created_at - n * interval '1 millisecond'))).*
         from webhooks.deliveries d, generate_series($3::integer, $4::integer) n where d.id = $1`,
        [uuidOf(template.id), uuidOf(many), from, to],
      );
    await put(1, 10_000);
    const exact = await list(`review_id=${many}&limit=1`);
    expect([exact.total, exact.total_is_capped, exact.has_more]).toEqual([10_000, undefined, true]);
    await put(10_001, 10_003);
    for (const filter of ['', `review_id=${many}`, 'status=delivered', 'event_type=review.decided&event_type=review.action_taken']) {
      expect([filter, await list(`${filter}&limit=1`)]).toEqual([
        filter,
        expect.objectContaining({ total: 10_000, total_is_capped: true, has_more: true }),
      ]);
    }
    const past = await list(`review_id=${many}&offset=9999&limit=2`);
    expect(past).toMatchObject({ total: 10_000, total_is_capped: true, has_more: true, items: [{}, {}] });
    const last = await list(`review_id=${many}&limit=2&cursor=${past.next_cursor}`);
    expect(last).toMatchObject({ total: 10_000, total_is_capped: true, has_more: false, items: [{}, {}] });
    expect(last.next_cursor).toBeUndefined();
    const shown = [...past.items, ...last.items].map((one) => Date.parse(one.created_at) - Date.parse(template.created_at));
    expect(shown).toEqual([-10_000, -10_001, -10_002, -10_003]);

    await server.db.ownerPool.query('delete from webhooks.deliveries where review = $1', [uuidOf(many)]);
    const again = await list('limit=1');
    expect([again.total, again.total_is_capped]).toEqual([12, undefined]);
  });

  it.each(['cursor=nonsense', `cursor=${Buffer.from('{"at":"1","id":"whd_x"}').toString('base64url')}`, 'cursor=e30&offset=1'])(
    'refuses %s',
    async (query) => {
      const { status: code, body } = await server.call<ErrorBody>('listDeliveries', { query });
      expect([code, body.error.code]).toEqual([400, 'invalid_cursor']);
    },
  );

  it('knows nothing of another project', async () => {
    expect(await list('', STRANGER)).toMatchObject({ total: 0, items: [], has_more: false });
    const [own] = (await list('limit=1')).items as [Delivery];
    for (const id of ['getDelivery', 'retryDelivery'] as const) {
      const answer = await server.call<ErrorBody>(id, { params: { id: own.id }, actor: STRANGER });
      expect([answer.status, answer.body.error.code]).toEqual([404, 'delivery_not_found']);
    }
    expect((await server.call('replayDeliveries', { body: {}, actor: STRANGER })).body).toMatchObject({ queued: 0 });
  });
});

describe('one delivery', () => {
  it('shows the exact bytes and each attempt', async () => {
    const review = await server.approved(
      agent.url('/detailed', (_, response, nth) => void response.writeHead(nth === 1 ? 500 : 200).end('said so')),
    );
    const { items } = await settled(review);
    const shown = await detail(items[1]?.id ?? '');
    const [first] = agent.at('/detailed') as [Received];
    expect(shown.body).toBe(first.body.toString('utf8'));
    expect(shown.attempt_log).toEqual([
      expect.objectContaining({
        number: 1,
        stage: 'after',
        outcome: 'failed',
        status_code: 500,
        error: 'HTTP 500: said so',
        response_preview: 'said so',
      }),
      expect.objectContaining({ number: 2, stage: 'after', outcome: 'delivered', status_code: 200, error: null, next_attempt_at: null }),
    ]);
    expect(shown.attempt_log[0]?.next_attempt_at).not.toBeNull();
  });

  it.each(['nonsense', newId('whd'), newId('rev')])('answers 404 for %s', async (id) => {
    const { status: code, body } = await server.call<ErrorBody>('getDelivery', { params: { id } });
    expect([code, body.error.code]).toEqual([404, 'delivery_not_found']);
  });
});

describe('what is kept', () => {
  it('is no longer the bytes of what arrived long ago; dead letters keep theirs', async () => {
    const arrived = (await settled(await server.approved(agent.url('/old')))).items[0] as Delivery;
    const dead = (await settled(await server.approved(agent.url('/old-dead', status(500))))).items[0] as Delivery;
    await dropOldBodies(server.db.pool, 3_600_000);
    expect((await detail(arrived.id)).body).not.toBeNull();
    await server.db.advanceClock(3_601);
    await dropOldBodies(server.db.pool, 3_600_000);
    expect(await detail(arrived.id)).toMatchObject({
      body: null,
      status: 'delivered',
      attempt_log: [{ status_code: 200, response_preview: null }],
    });
    expect((await detail(dead.id)).body).not.toBeNull();
  });
});

describe('sending again', () => {
  it('puts a dead letter back in line with the same id and bytes and a whole round of attempts', async () => {
    let broken = true;
    const review = await server.approved(agent.url('/revived', (_, response) => void response.writeHead(broken ? 500 : 200).end()));
    const dead = (await settled(review)).items.find((one) => one.event_type === 'review.action_taken') as Delivery;
    expect(dead).toMatchObject({ status: 'failed', attempts: 3, max_attempts: 3, last_error: 'HTTP 500' });
    broken = false;
    const { status: code, body } = await server.call('retryDelivery', { params: { id: dead.id }, actor: chief });
    expect([code, body]).toEqual([200, { id: dead.id, status: 'pending', queued_at: expect.any(String) }]);
    const revived = await until(
      () => detail(dead.id),
      (one) => one.status === 'delivered',
    );
    expect(revived).toMatchObject({ attempts: 4, max_attempts: 6 });
    const sent = agent.at('/revived').filter((one) => one.headers['x-webhook-id'] === dead.id);
    expect(sent).toHaveLength(4);
    expect(new Set(sent.map((one) => one.body.toString('utf8'))).size).toBe(1);
    const told = await until(
      async () => (await server.outcomes()).filter((one) => one.stream === dead.id),
      (all) => all.length === 3,
    );
    expect(told.map((one) => one.type)).toEqual(['delivery.dead_lettered', 'delivery.replayed', 'delivery.succeeded']);
    // Whoever asked is named by their id: metadata is read by many, and no erasure of the review reaches it.
    expect((await server.store.readStream(dead.id)).events.map(({ meta }) => meta.actor)).toEqual([
      { kind: 'system', id: 'webhooks' },
      { kind: 'person', id: chief.person_id },
      { kind: 'system', id: 'webhooks' },
    ]);
    expect(told[1]?.body).toEqual({
      review_id: review,
      event_type: 'review.action_taken',
      replay: 1,
      by: { kind: 'person', id: chief.person_id, email: chief.email },
    });
  });

  it('is refused for what has arrived, and for what is being attempted', async () => {
    const review = await server.approved(agent.url('/arrived'));
    const [arrived] = (await settled(review)).items as [Delivery];
    const again = await server.call<ErrorBody>('retryDelivery', { params: { id: arrived.id } });
    expect([again.status, again.body.error.code]).toEqual([400, 'already_delivered']);
    let release: () => void = () => undefined;
    const held = await server.approved(
      agent.url('/held', (_, response, nth) => {
        release = () => void response.writeHead(200).end();
        if (nth > 1) release();
      }),
    );
    await until(
      () => agent.at('/held').length,
      (count) => count === 1,
    );
    const running = (await list(`review_id=${held}&event_type=review.action_taken`)).items[0] as Delivery;
    const claimed = await server.call<ErrorBody>('retryDelivery', { params: { id: running.id } });
    expect([claimed.status, claimed.body.error.code]).toEqual([409, 'delivery_claimed']);
    release();
    await settled(held);
  });

  it('asked for many dead letters sends each once more, in order, and again what fails again', async () => {
    let broken = true;
    const url = agent.url('/many', (_, response) => void response.writeHead(broken ? 500 : 200).end());
    const reviews = [await server.approved(url), await server.approved(url)];
    for (const review of reviews) await settled(review);
    const [first] = reviews as [string];
    expect((await server.call('replayDeliveries', { body: { review_id: first } })).body).toMatchObject({ queued: 2 });
    expect((await settled(first)).items.map((one) => one.attempts)).toEqual([6, 6]);
    broken = false;
    const before = agent.at('/many').length;
    const failed = (await list('status=failed&limit=100')).items.filter((one) => one.url === url).map((one) => one.id);
    expect(failed).toHaveLength(4);
    expect((await server.call('replayDeliveries', { body: { ids: failed } })).body).toMatchObject({
      queued: 4,
      queued_at: expect.any(String),
    });
    const sent = await until(
      () => agent.at('/many').slice(before),
      (all) => all.length === 4,
    );
    for (const review of reviews) {
      await settled(review);
      const types = sent.filter((one) => one.json.review_id === review).map((one) => one.headers['x-webhook-event']);
      expect(types).toEqual(['review.action_taken', 'review.decided']);
    }
    expect((await server.call('replayDeliveries', { body: { ids: failed } })).body).toMatchObject({ queued: 0 });
  });
});
