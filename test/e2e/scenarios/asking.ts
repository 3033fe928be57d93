/** What an agent may ask, and how often. */
import { expect } from '@jest/globals';
import { DRAFT } from '../server.js';
import { arrived, fresh, hook, type Scenario } from './scenario.js';

export const idempotentCreate: Scenario = async (server, moment) => {
  const idempotency_key = fresh('same');
  const body = { template: 'email-draft', payload: DRAFT, idempotency_key };
  const answers = await Promise.all(Array.from({ length: 50 }, () => server.agent.try('createReview', { body })));
  const ids = new Set(answers.map(({ body: review }) => review.id));
  expect(ids.size).toBe(1);
  expect(answers.map(({ status }) => status).sort()).toEqual([...Array.from({ length: 49 }, () => 200), 201]);
  const [id] = [...ids] as [string];
  await moment();
  const again = await server.agent.try('createReview', { body, headers: { 'idempotency-key': idempotency_key } });
  expect([again.status, again.body.id, again.headers.get('idempotent-replay')]).toEqual([200, id, 'true']);
  const other = await server.agent.try('createReview', { body: { ...body, payload: { ...DRAFT, subject: 'Another' } } });
  expect([other.status, other.body.error]).toMatchObject([409, { code: 'idempotency_key_reused', review_id: id }]);
  expect(await server.agent.refused('createReview', { body, headers: { 'idempotency-key': 'another' } })).toEqual([
    400,
    'idempotency_key_mismatch',
  ]);
  await server.admin.act(id, 'approve');
  await moment();
  const settled = await server.agent.try('createReview', { body });
  expect([settled.status, settled.body.error]).toMatchObject([
    409,
    { code: 'idempotency_key_terminal_conflict', review_id: id, review: { status: 'decided', decision: 'approved' } },
  ]);
};

export const templateStates: Scenario = async (server, moment) => {
  const slug = fresh('paused');
  const { id } = await server.publish({ slug });
  await server.admin.do('pauseTemplate', { path: { id } });
  await moment();
  const ask = (template: string) => server.agent.refused('createReview', { body: { template, payload: { subject: 'x' } } });
  expect(await ask(slug)).toEqual([400, 'template_inactive']);
  await server.admin.do('resumeTemplate', { path: { id } });
  expect((await server.ask({ template: slug, payload: { subject: 'x' } })).status).toBe('pending');
  const draft = await server.admin.do('createTemplateDraft', { body: { title: 'A sample', amount: 3 } });
  await moment();
  expect(await ask(draft.id)).toEqual([400, 'template_draft']);
  expect(await ask('no-such-template')).toEqual([404, 'template_not_found']);
};

export const keyLimits: Scenario = async (server, moment) => {
  const [mail, refund] = await Promise.all(
    ['email-draft', 'refund'].map(async (slug) => (await server.agent.do('listTemplates')).items.find((t) => t.slug === slug)),
  );
  const limited = await server.key({ name: 'refunds only', template_ids: [refund?.id ?? ''] });
  const { id } = await server.ask();
  await moment();
  const refused = [404, 'template_not_found'];
  expect(await limited.refused('createReview', { body: { template: 'email-draft', payload: DRAFT } })).toEqual(refused);
  expect(await limited.refused('getReview', { path: { id } })).toEqual([404, 'review_not_found']);
  expect((await limited.do('listReviews')).total).toBe(0);
  expect((await limited.do('listTemplates')).items.map((t) => t.slug)).toEqual(['refund']);
  expect(await limited.refused('getTemplate', { path: { id: mail?.id ?? '' } })).toEqual(refused);

  const few = await server.key({ name: 'two an hour', rate_limit_per_hour: 2 });
  const ask = () => few.try('createReview', { body: { template: 'email-draft', payload: DRAFT } });
  expect([(await ask()).status, (await ask()).status]).toEqual([201, 201]);
  await moment();
  const third = await ask();
  expect([third.status, third.body.error.code]).toEqual([429, 'rate_limit_exceeded']);
  expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
};

export const withdraw: Scenario = async (server, moment) => {
  const path = hook();
  const { id } = await server.ask({ callback_url: server.receiver.url(path) });
  await moment();
  const gone = await server.agent.do('withdrawReview', { path: { id }, body: { reason: 'The customer cancelled.' } });
  await moment();
  expect(gone).toMatchObject({ status: 'expired', withdrawn: true, withdrawn_reason: 'The customer cancelled.', decision: null });
  const again = await server.agent.try('withdrawReview', { path: { id } });
  expect([again.status, again.headers.get('idempotent-replay')]).toEqual([200, 'true']);
  const attempt = await server.admin.try('actOnReview', { path: { id }, body: { action_id: 'approve' } });
  expect([attempt.status, attempt.body.error.code]).toEqual([409, 'review_expired']);
  await arrived(server, path, ['review.expired']);
};
