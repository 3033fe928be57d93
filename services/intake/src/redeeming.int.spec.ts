/** What was approved is what runs, once; what came of it is a fact of its own (R4, R5; hrp §13). */
import type { Actor } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { act } from '@countersign/review';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { PAYLOAD, type Server, startServer } from './fixture/server.js';

let server: Server;
let review: string;
beforeAll(async () => {
  server = await startServer();
  await server.template({ slug: 'mail' });
  await server.template({ slug: 'brief', approval_valid_seconds: 60 });
});
afterAll(() => server.close());
beforeEach(async () => {
  review = await approved();
});

const decide = (id: string, action: string, more: object = {}) =>
  server.happen(id, server.ann, (state, now) => act({ actor: server.ann, action: { id: action }, ...more }, state, now));

async function approved(template = 'mail', edited_payload?: Record<string, unknown>): Promise<string> {
  const id = await server.ask(template);
  await decide(id, 'approve', edited_payload ? { edited_payload } : {});
  return id;
}

const redeem = (body: unknown, id = review, actor: Actor = server.agent) => server.call('redeemReview', actor, { params: { id }, body });
const report = (body: unknown, id = review, actor: Actor = server.agent) => server.call('recordExecution', actor, { params: { id }, body });

describe('redeeming', () => {
  it('is answered once, for the exact value', async () => {
    const { status, headers, body } = await redeem({ value: PAYLOAD, executor: 'mailer-7' });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      object: 'redemption',
      review_id: review,
      digest: digest(PAYLOAD),
      executor: 'mailer-7',
      redeemed_by: 'agent:gwk_0123abcd',
    });
    const last = (await server.facts(review)).at(-1);
    expect(last).toMatchObject({ type: 'review.redeemed', time: body.redeemed_at });
    expect(headers['countersign-seen']).toBe(`${last?.position}.${last?.bucket}`);
    const again = await redeem({ value: PAYLOAD });
    expect(again.status).toBe(409);
    expect(again.body.error).toMatchObject({ code: 'already_redeemed', redemption: body, review: { id: review, decision: 'approved' } });
    expect((await server.facts(review)).at(-1)).toEqual(last);
  });

  it('takes the digest in place of the value, and the members of a value in any order', async () => {
    expect((await redeem({ digest: digest(PAYLOAD) })).status).toBe(200);
    const { tracking, ...rest } = PAYLOAD;
    expect((await redeem({ value: { tracking, ...rest } }, await approved())).status).toBe(200);
  });

  it('is for what the person approved, not for what was asked', async () => {
    const edited = await approved('mail', { subject: 'Better' });
    const merged = { ...PAYLOAD, subject: 'Better' };
    expect((await redeem({ value: PAYLOAD }, edited)).body.error).toMatchObject({ code: 'digest_mismatch', paths: ['/subject'] });
    expect((await redeem({ value: merged }, edited)).body.digest).toBe(digest(merged));
  });

  it.each<[string, object, string[]]>([
    ['changed', { ...PAYLOAD, recipients: 300 }, ['/recipients']],
    ['added', { ...PAYLOAD, bcc: 'x' }, ['/bcc']],
    ['left out', { subject: PAYLOAD.subject, recipients: 3 }, ['/tracking']],
    ['deep', { ...PAYLOAD, tracking: { campaign: 'y' } }, ['/tracking/campaign']],
    ['a string for a number', { ...PAYLOAD, recipients: '3' }, ['/recipients']],
  ])('refuses another value and says where it differs: %s', async (_what, value, paths) => {
    const { status, body } = await redeem({ value });
    expect([status, body.error]).toMatchObject([409, { code: 'digest_mismatch', paths, review: { id: review } }]);
    expect((await server.facts(review)).at(-1)?.type).toBe('review.decided');
  });

  it('refuses another digest, without places to name', async () => {
    const { error } = (await redeem({ digest: digest({}) })).body;
    expect([error?.code, error?.paths]).toEqual(['digest_mismatch', undefined]);
  });

  it('asks for a value or a digest, and one of them', async () => {
    for (const body of [{}, { value: PAYLOAD, digest: digest(PAYLOAD) }, { digest: 'md5:x' }, { value: 'text' }]) {
      const answer = await redeem(body);
      expect([answer.status, answer.code]).toEqual([400, 'validation_failed']);
    }
  });

  it('is refused for what is not approved', async () => {
    const pending = await server.ask('mail');
    const rejected = await server.ask('mail');
    await decide(rejected, 'reject', { feedback: 'No.' });
    const withdrawn = await server.ask('mail');
    await server.call('withdrawReview', server.agent, { params: { id: withdrawn } });
    for (const id of [pending, rejected, withdrawn]) {
      const { status, code } = await redeem({ value: PAYLOAD }, id);
      expect([status, code]).toEqual([409, 'not_approved']);
    }
  });

  it('is refused once the approval is older than its template allows, at that very instant', async () => {
    const [early, late] = [await approved('brief'), await approved('brief')];
    const end = async (id: string, ms: number) => {
      const decided = (await server.facts(id)).at(-1)?.time ?? '';
      return new Date(Date.parse(decided) + 60_000 + ms).toISOString();
    };
    try {
      await server.db.stopClock(await end(early, -1));
      expect((await redeem({ value: PAYLOAD }, early)).status).toBe(200);
      const expired_at = await end(late, 0);
      await server.db.stopClock(expired_at);
      const { status, body } = await redeem({ value: PAYLOAD }, late);
      expect([status, body.error]).toMatchObject([409, { code: 'approval_expired', expired_at }]);
      expect((await redeem({ value: PAYLOAD }, early)).code).toBe('already_redeemed');
    } finally {
      await server.db.stopClock(null);
    }
  });

  it('of fifty at once one is answered 200, and all others are told by which redemption', async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => redeem({ value: PAYLOAD, executor: `worker ${n}` })));
    const won = answers.filter(({ status }) => status === 200);
    expect(won).toHaveLength(1);
    const lost = answers
      .filter(({ status }) => status !== 200)
      .map(({ status, body }) => [status, body.error?.code, body.error?.redemption]);
    expect(lost).toEqual(Array.from({ length: 49 }, () => [409, 'already_redeemed', won[0]?.body]));
    expect((await server.facts(review)).filter(({ type }) => type === 'review.redeemed')).toHaveLength(1);
  });
});

describe('an execution', () => {
  it('is recorded beside the redemption it ran under', async () => {
    const redemption_id = (await redeem({ value: PAYLOAD })).body.id;
    const said = { redemption_id, status: 'succeeded', output_digest: digest({ sent: 3 }), note: 'Sent.' };
    const { status, headers, body } = await report(said);
    expect(status).toBe(201);
    expect(body).toMatchObject({ object: 'execution', review_id: review, ...said, reported_by: 'agent:gwk_0123abcd' });
    const last = (await server.facts(review)).at(-1);
    expect(last).toMatchObject({ type: 'review.executed', body: { execution_id: body.id } });
    expect(headers['countersign-seen']).toBe(`${last?.position}.${last?.bucket}`);
  });

  it('reported again is that one again; another one is another', async () => {
    const first = await report({ status: 'failed', note: 'Timeout.' });
    const again = await report({ status: 'failed', note: 'Timeout.' });
    expect([again.status, again.headers['idempotent-replay'], again.body]).toEqual([201, 'true', first.body]);
    const next = await report({ status: 'succeeded' });
    expect(next.body.id).not.toBe(first.body.id);
    expect((await server.facts(review)).map(({ type }) => type).slice(2)).toEqual(['review.executed', 'review.executed']);
  });

  it('needs an approval, and a redemption that is there when it names one', async () => {
    expect((await report({ status: 'succeeded' }, await server.ask('mail'))).code).toBe('not_approved');
    const { status, body } = await report({ status: 'succeeded', redemption_id: newId('rdm') });
    expect([status, body.error]).toMatchObject([404, { code: 'redemption_not_found', param: 'redemption_id' }]);
    expect((await report({ status: 'maybe' })).code).toBe('validation_failed');
  });

  it('after a hundred of them is refused', async () => {
    for (let n = 0; n < 100; n++) expect((await report({ status: 'failed', note: `Attempt ${n}` })).status).toBe(201);
    const { status, code } = await report({ status: 'succeeded' });
    expect([status, code]).toEqual([409, 'too_many_executions']);
  });
});

describe('both', () => {
  it('are for keys of the project with the scope, and for templates the key may use', async () => {
    const limited: Actor = { ...server.agent, template_ids: [newId('tpl')] };
    const others: [Actor, number, string][] = [
      [server.chief, 403, 'forbidden'],
      [{ ...server.agent, scopes: ['reviews:read'] }, 403, 'forbidden'],
      [limited, 404, 'review_not_found'],
      [server.foreignAgent, 404, 'review_not_found'],
    ];
    for (const [actor, status, code] of others) {
      const answers = [await redeem({ value: PAYLOAD }, review, actor), await report({ status: 'failed' }, review, actor)];
      for (const answer of answers) expect([answer.status, answer.code]).toEqual([status, code]);
    }
    for (const id of [newId('rev'), newId('tpl'), 'nonsense']) {
      expect((await redeem({ value: PAYLOAD }, id)).code).toBe('review_not_found');
      expect((await report({ status: 'failed' }, id)).code).toBe('review_not_found');
    }
  });
});
