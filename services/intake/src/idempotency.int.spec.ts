/** The same request again (decision 9): one review for a key, whoever races and whatever breaks off. */
import type { Actor } from '@countersign/contracts';
import { newId, redactStream } from '@countersign/event-store';
import { act } from '@countersign/review';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PAYLOAD, type Server, startServer } from './fixture/server.js';
import { requestReview } from './request-review.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
  await server.template({ slug: 'mail' });
});
afterAll(() => server.close());

let keys = 0;
const freshKey = () => `key ${++keys}`;
const asking = (body: Record<string, unknown>, headers: Record<string, string> = {}, actor: Actor = server.agent) =>
  server.call('createReview', actor, { body: { template: 'mail', payload: PAYLOAD, ...body }, headers });
const approving = (review: string) =>
  server.happen(review, server.ann, (state, now) => act({ actor: server.ann, action: { id: 'approve' } }, state, now));

describe('the same request again', () => {
  it('is answered with the first review, and nothing is written', async () => {
    const idempotency_key = freshKey();
    const first = await asking({ idempotency_key });
    expect([first.status, first.headers['idempotent-replay']]).toEqual([201, undefined]);
    const { position } = await server.store.head();
    const again = await asking({ idempotency_key });
    expect([again.status, again.headers['idempotent-replay']]).toEqual([200, 'true']);
    expect(again.body).toEqual(first.body);
    expect(again.headers['countersign-seen']).toBe(first.headers['countersign-seen']);
    expect((await server.store.head()).position).toBe(position);
  });

  it('is known by a key of whatever characters, as many as it may have', async () => {
    const idempotency_key = '🤖'.repeat(255);
    const [first, again] = [await asking({ idempotency_key }), await asking({ idempotency_key })];
    expect([first.status, again.status, again.body.id]).toEqual([201, 200, first.body.id]);
  });

  it('is that also with other words for what no person judges', async () => {
    const idempotency_key = freshKey();
    const first = await asking({ idempotency_key });
    const beside = {
      metadata: { try: 2 },
      callback_url: 'https://agent.example/',
      trace_url: 'https://t.example/',
      priority: 'low',
      confidence: 0.5,
    };
    const reordered = Object.fromEntries(Object.entries(PAYLOAD).reverse());
    expect((await asking({ ...beside, payload: reordered, oversight: 'blocking', idempotency_key })).body.id).toBe(first.body.id);
  });

  it('shows the review as it has become meanwhile', async () => {
    const idempotency_key = freshKey();
    const { body } = await asking({ idempotency_key });
    await server.happen(body.id, server.ann, (state, now) =>
      act({ actor: server.ann, action: { id: 'request_changes' }, feedback: 'Shorter.' }, state, now),
    );
    const again = await asking({ idempotency_key });
    expect([again.status, again.body.status]).toEqual([200, 'awaiting_iteration']);
  });

  it('may be sent by another key of the project, for which there is none where it may not use the template', async () => {
    const idempotency_key = freshKey();
    const { body } = await asking({ idempotency_key });
    const other = { ...server.agent, key_id: newId('key') };
    expect((await asking({ idempotency_key }, {}, other)).body.id).toBe(body.id);
    expect((await asking({ idempotency_key }, {}, { ...other, template_ids: [newId('tpl')] })).code).toBe('template_not_found');
    expect((await asking({ idempotency_key }, {}, { ...other, template_ids: [body.template_id ?? ''] })).body.id).toBe(body.id);
  });

  it('is free for a key that does not see whose it is: it gets its own review, once, and learns of no other', async () => {
    const { id, slug } = await server.template();
    const limited: Actor = { ...server.agent, key_id: newId('key'), template_ids: [id] };
    const body = { template: slug, payload: PAYLOAD };
    const idempotency_key = freshKey();
    const hidden = await asking({ idempotency_key });
    const [one, two] = await Promise.all([
      asking({ ...body, idempotency_key }, {}, limited),
      asking({ ...body, idempotency_key }, {}, limited),
    ]);
    expect([one.status, two.status].sort()).toEqual([200, 201]);
    expect(two.body.id).toBe(one.body.id);
    expect(one.body.id).not.toBe(hidden.body.id);
    const other = await asking({ ...body, payload: { ...PAYLOAD, recipients: 9 }, idempotency_key }, {}, limited);
    expect([other.code, other.body.error?.review_id]).toEqual(['idempotency_key_reused', one.body.id]);
    expect((await asking({ idempotency_key })).body.id).toBe(hidden.body.id);
    // Nor by what else is wrong with the request, where the template is not its own.
    const wrong = { callback_url: 'http://192.168.1.1/', trace_url: 'http://not.https/' };
    for (const more of [{}, wrong, { trace_url: wrong.trace_url }]) {
      const told = async (key: string) => (await asking({ idempotency_key: key, ...more }, {}, limited)).body;
      expect(await told(idempotency_key)).toEqual(await told(freshKey()));
    }
  });

  it('is another request in another project', async () => {
    const idempotency_key = freshKey();
    const admin = server.stranger;
    await server.call('createTemplate', admin, { body: { slug: 'mail', name: 'Mail', fields: [] } });
    const [here, there] = [await asking({ idempotency_key }), await asking({ idempotency_key }, {}, server.foreignAgent)];
    expect([here.status, there.status]).toEqual([201, 201]);
    expect(there.body.id).not.toBe(here.body.id);
  });
});

describe('another request with the same key', () => {
  it.each<[string, Record<string, unknown>]>([
    ['payload', { payload: { ...PAYLOAD, recipients: 4 } }],
    ['actions', { actions: ['approve'] }],
    ['timeout', { timeout: { seconds: 60, action: 'expire' } }],
    ['template', { template: 'nothing-of-the-sort' }],
    ['irreversibility', { irreversibility: 'irreversible' }],
    ['on_behalf_of', { on_behalf_of: 'ann@example.org' }],
    ['max_iterations', { max_iterations: 1 }],
  ])('is refused for its %s, and told which review has the key', async (_what, other) => {
    const idempotency_key = freshKey();
    const { body } = await asking({ idempotency_key });
    const answer = await asking({ ...other, idempotency_key });
    expect(answer.status).toBe(409);
    expect(answer.body.error).toMatchObject({
      code: 'idempotency_key_reused',
      review_id: body.id,
      status: 'pending',
      review: { id: body.id, status: 'pending', decision: null, current_version: 1 },
    });
  });

  it('is refused first of all for a review that is settled, even when it is the same request', async () => {
    const approved = { idempotency_key: freshKey() };
    const { body } = await asking(approved);
    await approving(body.id);
    for (const more of [{}, { payload: { subject: 1 } }, { template: 'gone' }, { callback_url: 'http://10.0.0.1/' }]) {
      const answer = await asking({ ...more, ...approved });
      expect(answer.status).toBe(409);
      expect(answer.body.error).toMatchObject({
        code: 'idempotency_key_terminal_conflict',
        review_id: body.id,
        review: { status: 'decided', decision: 'approved', decided_by: 'ann@example.org' },
      });
    }
  });

  it('is refused for a review that was withdrawn, that the clock has ended though nobody wrote it down, or that was erased', async () => {
    const [withdrawn, expired, erased] = [freshKey(), freshKey(), freshKey()];
    const one = await asking({ idempotency_key: withdrawn });
    await server.call('withdrawReview', server.agent, { params: { id: one.body.id } });
    const timeout = { seconds: 60, action: 'expire' };
    const two = await asking({ idempotency_key: expired, timeout });
    await server.db.advanceClock(60);
    const three = await asking({ idempotency_key: erased });
    await redactStream(server.db.ownerPool, { stream: three.body.id, reason: 'asked to be forgotten' });
    const codes = [];
    for (const body of [{ idempotency_key: withdrawn }, { idempotency_key: expired, timeout }, { idempotency_key: erased }]) {
      const { error } = (await asking(body)).body;
      codes.push([error?.code, error?.review_id, error?.status]);
    }
    expect(codes).toEqual([
      ['idempotency_key_terminal_conflict', one.body.id, 'expired'],
      ['idempotency_key_terminal_conflict', two.body.id, 'expired'],
      ['idempotency_key_terminal_conflict', three.body.id, undefined],
    ]);
    expect((await server.facts(two.body.id)).map(({ type }) => type)).toEqual(['review.requested']);
  });
});

describe('the key of a review that was erased', () => {
  it('says so to whatever comes with it, makes no second review, and keeps nothing to hold a guess against', async () => {
    const idempotency_key = freshKey();
    const { body: first } = await asking({ idempotency_key });
    await redactStream(server.db.ownerPool, { stream: first.id, reason: 'asked to be forgotten' });
    const { position } = await server.store.head();
    for (const payload of [PAYLOAD, { ...PAYLOAD, subject: 'A guess' }]) {
      const { status, body } = await asking({ idempotency_key, payload });
      expect([status, body.error?.code, body.error?.review_id]).toEqual([409, 'idempotency_key_terminal_conflict', first.id]);
      expect(body.error?.message).toContain('erased');
    }
    expect((await server.store.head()).position).toBe(position);
    const { rows } = await server.db.pool.query('select input_hash from event_store.idempotency where key = $1', [idempotency_key]);
    expect(rows).toEqual([{ input_hash: '' }]);
  });
});

describe('a key in the header', () => {
  it('does what one in the body does, and stands on the review', async () => {
    const key = freshKey();
    const first = await asking({}, { 'idempotency-key': key });
    expect([first.status, first.body.idempotency_key]).toEqual([201, key]);
    expect((await asking({ idempotency_key: key })).body.id).toBe(first.body.id);
    expect((await asking({ idempotency_key: key }, { 'idempotency-key': key })).body.id).toBe(first.body.id);
  });

  it('must agree with the body, and be no longer than one', async () => {
    const differing = await asking({ idempotency_key: freshKey() }, { 'idempotency-key': freshKey() });
    expect([differing.status, differing.body.error]).toMatchObject([400, { code: 'idempotency_key_mismatch', param: 'idempotency_key' }]);
    const long = await asking({}, { 'idempotency-key': 'k'.repeat(256) });
    expect([long.status, long.body.error]).toMatchObject([400, { code: 'validation_failed', param: 'headers.idempotency-key' }]);
    expect((await asking({}, { 'idempotency-key': '' })).status).toBe(201);
    for (const idempotency_key of ['', 'k'.repeat(256)]) expect((await asking({ idempotency_key })).code).toBe('validation_failed');
  });
});

describe('fifty at once', () => {
  const fifty = <T>(make: (n: number) => Promise<T>) => Promise.all(Array.from({ length: 50 }, (_, n) => make(n)));
  const requested = async (idempotency_key: string) =>
    (await server.store.readAll({ after: 0, limit: 10_000, categories: ['review'] })).filter(
      (event) => (event.body as { idempotency_key?: string } | null)?.idempotency_key === idempotency_key,
    );

  it('make one review: one is answered 201, forty-nine are its replays', async () => {
    const idempotency_key = freshKey();
    const answers = await fifty((n) => asking({ idempotency_key }, n % 2 ? { 'idempotency-key': idempotency_key } : {}));
    expect(answers.filter(({ status, headers }) => status === 201 && headers['idempotent-replay'] === undefined)).toHaveLength(1);
    expect(answers.filter(({ status, headers }) => status === 200 && headers['idempotent-replay'] === 'true')).toHaveLength(49);
    expect(answers.map(({ body }) => body)).toEqual(answers.map(() => answers[0]?.body));
    expect(new Set(answers.map(({ headers }) => headers['countersign-seen'])).size).toBe(1);
    expect(await requested(idempotency_key)).toHaveLength(1);
  });

  it('that differ make one review, and the others are told which', async () => {
    const idempotency_key = freshKey();
    const answers = await fifty((n) => asking({ idempotency_key, payload: { subject: `No. ${n}` } }));
    const made = answers.filter(({ status }) => status === 201);
    expect(made).toHaveLength(1);
    const refused = answers.filter(({ status }) => status === 409).map(({ body }) => [body.error?.code, body.error?.review_id]);
    expect(refused).toEqual(Array.from({ length: 49 }, () => ['idempotency_key_reused', made[0]?.body.id]));
    expect(await requested(idempotency_key)).toHaveLength(1);
  });
});

describe('a process that is killed', () => {
  const caller = () => ({ actor: server.agent, request_id: 'test-request' });

  it.each(['before', 'after'] as const)('%s the append leaves a request that can be sent again', async (when) => {
    const idempotency_key = freshKey();
    const body = { template: 'mail', payload: PAYLOAD, idempotency_key };
    await new Promise<void>((dead, fault) => {
      const append: typeof server.store.append = async (request) => {
        if (when === 'after') await server.store.append(request);
        dead();
        return new Promise<never>(() => undefined);
      };
      const dying = Object.create(server.store, { append: { value: append } });
      requestReview({ ...server.deps, store: dying }, caller(), body).then(() => fault(new Error('It was answered.')), fault);
    });
    const answers = [await asking({ idempotency_key }), await asking({ idempotency_key })];
    expect(answers.map(({ status }) => status)).toEqual(when === 'after' ? [200, 200] : [201, 200]);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
    const [first] = answers;
    expect((await server.facts(first?.body.id ?? '')).map(({ type }) => type)).toEqual(['review.requested']);
  });
});
