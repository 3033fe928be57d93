/**
 * Nothing a caller says and nothing secret is in what the product says of itself: marked values go through every operation, accepted and
 * refused, and are looked for in every line of the log, every span, metric and log record.
 */

import { until } from '@countersign/platform/fixture';
import { OtlpReceiver } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ROUTES, startTarget, type Target } from '../bad-input/target.js';
import { DRAFT } from '../e2e/server.js';
import type { Topology } from '../e2e/topology.js';
import { MarkedRoutes } from './marked-routes.js';
import { MARK } from './marks.js';

/** @param line what every line of the log is. */
export function playLeaks(name: string, start: (settings: Record<string, string>) => Promise<Topology>, line: RegExp): void {
  jest.setTimeout(300_000);
  let collector: OtlpReceiver;
  let target: Target;
  let routes: MarkedRoutes;
  /** A delivery that has failed for good. */
  let dead = '';
  const bearers = new Set<string>();
  beforeAll(async () => {
    collector = await new OtlpReceiver().listen();
    const settings = { LOG_LEVEL: 'trace', WEBHOOK_BACKOFF: '20ms', SECURITY_CONTACT: 'https://example.com/report' };
    target = await startTarget({ ...collector.settings, ...settings }, start);
  });
  afterAll(async () => {
    await target?.stop();
    await collector?.close();
  });

  /** Everything the product has said of itself. */
  const told = (): string => [target.server.topology.inspect().log, ...collector.raw].join('\n');

  describe(`what the product says of itself, ${name},`, () => {
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
      await server.agent.do('resubmitReview', { path: { id }, body: { payload: { ...DRAFT, subject: MARK }, version: 2 } });
      await server.admin.act(id, 'reject', { feedback: MARK });
      await server.admin.try('login', { body: { email: `${MARK}@demo.example`, password: MARK } });
      await until('a delivery to die', async () => {
        const { items } = await server.admin.do('listDeliveries', { query: { review_id: id, status: 'failed' } });
        dead = items[0]?.id ?? '';
        return dead;
      });
      await until('its attempts to be told', () =>
        collector.logs.some(({ body, attributes }) => body === 'delivery attempted' && attributes.review_id === id),
      );
    });

    it('holds nothing of what callers say, on any operation', async () => {
      routes = await MarkedRoutes.over(target, dead);
      const answers = new Map<string, { status: number; text: string }>();
      for (const route of routes.order) {
        // Refused: what is no id, no credential, and no body.
        if (route.path.includes('{')) await target.send(route, { parameter: `${MARK}-${route.id}`, query: `?token=${MARK}` });
        await target.send(route, { headers: { authorization: `Bearer gwk_${MARK}${'x'.repeat(40)}` } });
        await target.send(route, { headers: { authorization: `Bearer ${MARK}`, cookie: `countersign_session=cst_${MARK}` } });
        if (route.body) {
          await target.send(route, { headers: { 'content-type': 'application/json' }, body: `{"${MARK}": ${MARK}` });
          await target.send(route, { headers: { 'content-type': `application/${MARK}` }, body: MARK });
        }
        answers.set(route.id, await routes.send(route));
        bearers.add(target.server.admin.bearer ?? '');
      }
      for (const path of [`/${MARK}`, `/api/v1/${MARK}`, `/api/v1/reviews/${MARK}/${MARK}`, `/%${MARK}`]) await target.ask('GET', path);
      await target.ask(MARK.toUpperCase(), '/api/v1/reviews');
      // A route that refuses goes the shorter way, and says less.
      const refused = [...answers].filter(([, { status }]) => status >= 400);
      expect(refused.map(([id, { status, text }]) => `${id} ${status} ${text.slice(0, 300)}`)).toEqual([]);
      expect(answers.size).toBe(ROUTES.length - 1);
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
        ...bearers,
        ...routes.secrets,
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

    it('is one line for each thing', () => {
      const log = target.server.topology.inspect().log.trimEnd().split('\n');
      expect(log.length).toBeGreaterThan(ROUTES.length);
      expect(log.filter((one) => !line.test(one))).toEqual([]);
    });
  });
}
