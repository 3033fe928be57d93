/**
 * Nothing a caller says and nothing secret is in what the product says of itself: marked values go through every operation, accepted and
 * refused, and are looked for in every line of the log, every span, metric and log record.
 */
import type { OperationId } from '@countersign/contracts';
import { until } from '@countersign/platform/fixture';
import { OtlpReceiver } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { examplesOf } from '../bad-input/schemas.js';
import { ROUTES, type Route, startTarget, type Target } from '../bad-input/target.js';
import { DRAFT } from '../e2e/server.js';
import { MARK, marked, placeOf, textsOf } from './marks.js';

jest.setTimeout(180_000);

/** What would end the session or the people the others are asked with, or use up what they need. */
const LAST =
  /^(logout|revokeSession|deleteSession|revokeSessions|revokeOtherSessions|changePassword|deleteApiKey|removeMember|updateMember)/;

let collector: OtlpReceiver;
let target: Target;
beforeAll(async () => {
  collector = await new OtlpReceiver().listen();
  target = await startTarget({ ...collector.settings, LOG_LEVEL: 'trace', WEBHOOK_BACKOFF: '20ms' });
});
afterAll(async () => {
  await target?.stop();
  await collector?.close();
});

/** Bodies that fit this server, where the documented examples are about others. */
const RIGHT: Partial<Record<OperationId, Record<string, unknown>>> = {
  createReview: { template: 'email-draft', payload: DRAFT, metadata: { note: 'n' } },
  createApiKey: { name: 'n', scopes: ['reviews:read'] },
  actOnReview: { action_id: 'request_changes', feedback: 'f' },
  decideReview: { decision: 'rejected', feedback: 'f' },
  retryReview: { feedback: 'f' },
  assignReview: { assignee: 'role:reviewer' },
  saveReviewDraft: { draft_payload: { body: 'b' } },
  inviteMember: { email: 'someone@demo.example', role: 'reviewer' },
};
let turn = 0;

/** Everything the product has said of itself. */
const told = (): string => [target.server.topology.inspect().log, ...collector.raw].join('\n');

/** Sends a route's right body with as many marks as it takes. @returns the last status. */
async function sendMarked(route: Route): Promise<number> {
  const headers = {
    'user-agent': MARK,
    'accept-language': MARK,
    'idempotency-key': `${MARK}-${route.id}`,
    cookie: `a=${MARK}`,
    tracestate: `a=${MARK}`,
  };
  const objects = target.objectsOf(route);
  const parameter = objects[turn++ % objects.length];
  if (!route.body) return (await target.send(route, { headers, parameter, query: `?q=${MARK}&search=${MARK}` })).status;
  const example = RIGHT[route.id] ?? examplesOf(target.document, route)[0] ?? {};
  const plain = new Set(['template', 'action_id', 'decision', 'assignee']);
  for (let left = textsOf(example).length; ; left--) {
    const body = JSON.stringify(marked(example, plain));
    const { status, text } = await target.send(route, { parameter, headers: { ...headers, 'content-type': 'application/json' }, body });
    const { error } = (text === '' ? {} : JSON.parse(text)) as { error?: { param?: string } };
    const place = error?.param === undefined ? undefined : placeOf(error.param);
    if (status !== 400 || place === undefined || left <= 0) return status;
    const texts = textsOf(example).filter((one) => !plain.has(one) && (one === place || one.startsWith(place) || place.startsWith(one)));
    if (texts.length === 0) return status;
    for (const one of texts) plain.add(one);
  }
}

describe('what the product says of itself', () => {
  it('holds nothing of what callers say, on any operation', async () => {
    const order = [...ROUTES].filter(({ id }) => id !== 'streamEvents').sort((a, b) => Number(LAST.test(a.id)) - Number(LAST.test(b.id)));
    const statuses = new Map<string, number>();
    for (const route of order) {
      // Refused: what is no id, no credential, and no body.
      if (route.path.includes('{')) await target.send(route, { parameter: `${MARK}-${route.id}`, query: `?token=${MARK}` });
      await target.send(route, { headers: { authorization: `Bearer gwk_${MARK}${'x'.repeat(40)}` } });
      await target.send(route, { headers: { authorization: `Bearer ${MARK}`, cookie: `countersign_session=cst_${MARK}` } });
      if (route.body) {
        await target.send(route, { headers: { 'content-type': 'application/json' }, body: `{"${MARK}": ${MARK}` });
        await target.send(route, { headers: { 'content-type': `application/${MARK}` }, body: MARK });
      }
      statuses.set(route.id, await sendMarked(route));
    }
    for (const path of [`/${MARK}`, `/api/v1/${MARK}`, `/api/v1/reviews/${MARK}/${MARK}`, `/%${MARK}`]) await target.ask('GET', path);
    await target.ask(MARK.toUpperCase(), '/api/v1/reviews');
    expect([...statuses].filter(([, status]) => status >= 500)).toEqual([]);
    const accepted = [...statuses].filter(([, status]) => status < 400).map(([id]) => id);
    expect(accepted).toEqual(expect.arrayContaining(['createReview', 'listReviews', 'createTemplate', 'updateTemplate', 'createApiKey']));
    expect(accepted.length).toBeGreaterThan(ROUTES.length / 2);
  });

  it('holds no payload, feedback, secret or address of a review’s whole way', async () => {
    const { server } = target;
    const answer = (_: unknown, response: { writeHead(status: number): { end(text: string): void } }) =>
      response.writeHead(500).end(`no ${MARK}`);
    const { id } = await server.ask({
      payload: { ...DRAFT, body: MARK, to: `${MARK}@customer.example` },
      callback_url: server.receiver.url(`/leaks?secret=${MARK}`, answer as never),
      metadata: { note: MARK },
    });
    await server.admin.do('saveReviewDraft', { path: { id }, body: { draft_payload: { body: MARK } } });
    await server.admin.act(id, 'request_changes', { feedback: MARK });
    await server.agent.try('resubmitReview', { path: { id }, body: { payload: { ...DRAFT, subject: MARK }, version: 2 } });
    await server.admin.act(id, 'reject', { feedback: MARK });
    await server.admin.try('login', { body: { email: `${MARK}@demo.example`, password: MARK } });
    await until('a delivery to die', async () => {
      const { items } = await server.admin.do('listDeliveries', { query: { review_id: id, status: 'failed' } });
      return items.length > 0;
    });
    await until('its attempts to be told', () =>
      collector.logs.some(({ body, attributes }) => body === 'delivery attempted' && attributes.review_id === id),
    );
  });

  it('was looked at, and none of it is there', async () => {
    const { credentials } = target.server.topology;
    const requests = collector.logs.filter(({ body }) => body === 'request').length;
    expect(requests).toBeGreaterThan(ROUTES.length * 5);
    await until('the spans of the requests', () => collector.spans.filter(({ kind }) => kind === 2).length > requests);
    const secrets = [
      MARK,
      credentials.api_key.slice(12),
      credentials.webhook_secret,
      credentials.reviewer.password,
      `${credentials.reviewer.email.split('@')[0]}@`,
      'second@',
      'a-long-sentence-nobody-guesses',
      DRAFT.subject,
      target.server.admin.bearer as string,
      target.key.bearer?.slice(12) as string,
      ...(target.objects['auth/invite'] as readonly string[]),
    ];
    const lines = told().toLowerCase().split('\n');
    const linesWith = (text: string) => lines.filter((line) => line.includes(text.toLowerCase()));
    const found = secrets.flatMap((secret) => linesWith(secret).slice(0, 3));
    expect(found.map((line) => line.slice(0, 1_500))).toEqual([]);
    // What should be there is found the same way.
    for (const text of [credentials.project_id, '/api/v1/reviews/:id/action', 'append review.requested', 'delivery attempted']) {
      expect([text, linesWith(text).length > 0]).toEqual([text, true]);
    }
  });
});
