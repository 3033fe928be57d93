/** What can go wrong between two machines, each against a real receiver (decision 11, hrp §7.3). */

import { newId } from '@countersign/event-store';
import { redeem } from '@countersign/review';
import { agent as AGENT, PAYLOAD } from '@countersign/review/fixture';
import { type Answer, Receiver, status, until } from '@countersign/testing';
import { afterEach, describe, expect, it } from '@jest/globals';
import { type Server, type ServerOptions, startServer } from './fixture/server.js';

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

async function begin(options: ServerOptions = {}): Promise<{ server: Server; agent: Receiver }> {
  const agent = await new Receiver().listen();
  open.push(agent);
  const server = await startServer(options);
  open.push(server);
  return { server, agent };
}

const LONG = { backoff: Array.from({ length: 8 }, () => 3_600_000), jitterPercent: 0 };

describe('a receiver in trouble', () => {
  const silent: Answer = () => undefined;
  const reset: Answer = (_, response) => void response.socket?.resetAndDestroy();
  it.each<[string, Answer, RegExp]>([
    ['hangs before its headers', silent, /No response within 1 s/],
    ['resets the connection', reset, /connection closed/],
    ['answers 503', status(503), /^HTTP 503$/],
    ['redirects to a metadata service', status(302, { location: 'http://169.254.169.254/latest/meta-data/' }), /^HTTP 302$/],
  ])('is tried again when it %s', async (_, trouble, error) => {
    const { server, agent } = await begin({ config: { ...LONG, headersTimeout: 1_000 } });
    let answer = trouble;
    const url = agent.url('/hook', (request, response, nth, raw) => answer(request, response, nth, raw));
    const review = await server.approved(url);
    await server.head(review, (one) => one.attempts === 1 && one.next_attempt_at !== null);
    // The limit is for the trouble only: a good answer of a busy machine may take longer.
    await server.pauseWorkers();
    server.config.headersTimeout = 10_000;
    answer = status(200);
    await server.startService();
    await server.db.advanceClock(3_600);
    const done = await server.head(review, (one) => one.status === 'delivered');
    expect(done.attempts).toBe(2);
    const { body } = await server.call<{ attempt_log: { error: string | null }[] }>('getDelivery', { params: { id: done.id } });
    expect(body.attempt_log[0]?.error).toMatch(error);
    const tries = agent.at().filter((one) => one.headers['x-webhook-event'] === 'review.action_taken');
    expect(tries.map((one) => one.headers['x-webhook-id'])).toEqual([done.id, done.id]);
  });

  it('has its 2xx taken although the body drips or never ends in size', async () => {
    const { server, agent } = await begin({ config: { bodyTimeout: 200, bodyBytes: 2_048 } });
    const drip: Answer = (_, response) => {
      response.writeHead(200);
      const timer = setInterval(() => response.write('.'), 20);
      response.on('close', () => clearInterval(timer));
    };
    const flood: Answer = (_, response) => {
      response.writeHead(200);
      const pump = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536, 'x')));
      };
      response.on('drain', pump);
      pump();
    };
    for (const answer of [drip, flood]) {
      const review = await server.approved(agent.url(`/${answer.name}`, answer));
      const done = await server.head(review, (one) => one.status === 'delivered');
      expect(done.attempts).toBe(1);
    }
  });

  it('is given the time it asks for, within a bound', async () => {
    const { server, agent } = await begin({ config: { retryAfterMax: 7_200_000 } });
    const waits = async (seconds: number) => {
      const review = await server.approved(agent.url(`/later-${seconds}`, status(429, { 'retry-after': String(seconds) })));
      const waiting = await server.head(review, (one) => one.attempts === 1 && one.next_attempt_at !== null);
      return Date.parse(waiting.next_attempt_at ?? '') - Date.now();
    };
    for (const [asked, granted] of [
      [600, 600_000],
      [999_999_999, 7_200_000],
    ] as const) {
      const wait = await waits(asked);
      expect(wait).toBeGreaterThan(granted - 60_000);
      expect(wait).toBeLessThanOrEqual(granted);
    }
  });

  it('gets nine attempts along the table of delays, then the delivery is a dead letter and the next of its review goes', async () => {
    const backoff = [5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200].map((seconds) => seconds * 1_000);
    const { server, agent } = await begin({ config: { backoff, jitterPercent: 0 } });
    const review = await server.approved(
      agent.url('/dead', (request, response) => {
        response.writeHead(request.headers['x-webhook-event'] === 'review.action_taken' ? 500 : 200).end();
      }),
    );
    for (const [index, delay] of backoff.entries()) {
      const waiting = await server.head(review, (one) => one.attempts === index + 1 && one.next_attempt_at !== null);
      expect(waiting).toMatchObject({ status: 'pending', max_attempts: 9, last_error: 'HTTP 500' });
      const wait = Date.parse(waiting.next_attempt_at ?? '') - Date.parse(waiting.last_attempt_at ?? '');
      expect(wait).toBeGreaterThanOrEqual(delay);
      expect(wait).toBeLessThan(delay + 3_000);
      await server.db.advanceClock(delay / 1_000);
    }
    expect(await server.head(review, (one) => one.status === 'failed')).toMatchObject({ attempts: 9, next_attempt_at: null });
    await until(
      () => agent.types('/dead'),
      (types) => types.includes('review.decided'),
    );
    expect(agent.at('/dead')).toHaveLength(10);
    expect(
      new Set(
        agent
          .at('/dead')
          .slice(0, 9)
          .map((one) => `${one.headers['x-webhook-id']} ${one.body.toString('utf8')}`),
      ).size,
    ).toBe(1);
    const outcomes = await until(
      () => server.outcomes(),
      (all) => all.length === 2,
    );
    expect(outcomes[0]).toMatchObject({
      type: 'delivery.dead_lettered',
      body: { reason: 'attempts_exhausted', attempts: 9, status_code: 500 },
    });
  });

  it('is tried at once when something new happens to its review', async () => {
    const { server, agent } = await begin({ config: LONG });
    const review = await server.approved(agent.url('/blocked', (_, response, nth) => void response.writeHead(nth === 1 ? 500 : 200).end()));
    await server.head(review, (one) => one.attempts === 1 && one.next_attempt_at !== null);
    await server.decide(review, (state, now) =>
      redeem({ actor: AGENT, redemption_id: newId('rdm'), presented: { value: PAYLOAD } }, state, now),
    );
    const types = await until(
      () => agent.types('/blocked'),
      (all) => all.length >= 4,
    );
    expect(types).toEqual(['review.action_taken', 'review.action_taken', 'review.decided', 'review.redeemed']);
  });

  it('does not slow others when it is dead', async () => {
    const { server, agent } = await begin({
      config: { ...LONG, headersTimeout: 30_000, lease: 90_000, concurrency: 20, endpointConcurrency: 8, drain: 50 },
    });
    const dead = await new Receiver().listen();
    open.push(dead);
    for (let n = 0; n < 30; n++) await server.approved(dead.url('/dead', () => undefined));
    await until(
      () => dead.received.length,
      (count) => count === 8,
    );
    for (let n = 0; n < 30; n++) await server.approved(agent.url('/healthy'));
    await until(
      () => agent.at('/healthy').length,
      (count) => count === 60,
    );
    expect(dead.received).toHaveLength(8);
  });

  it('opens its circuit, and flows again from the first attempt that goes through', async () => {
    const backoff = [60_000, 60_000, 60_000, 60_000];
    const { server, agent } = await begin({ config: { backoff, jitterPercent: 0, circuitFailures: 3, endpointConcurrency: 1 } });
    let broken = true;
    const url = agent.url('/down', (_, response) => void response.writeHead(broken ? 500 : 200).end());
    const reviews: string[] = [];
    for (let n = 0; n < 6; n++) reviews.push(await server.approved(url));
    const seen = await until(
      () => server.listed('event_type=review.action_taken'),
      (all) => all.some((one) => one.endpoint.circuit === 'open'),
    );
    expect(seen[0]?.endpoint).toMatchObject({ circuit: 'open', consecutive_failures: 3, origin: new URL(url).origin });
    expect(seen.filter((one) => one.attempts > 0)).toHaveLength(3);
    await server.db.advanceClock(60);
    await until(
      () => server.listed('limit=1'),
      ([one]) => one?.endpoint.consecutive_failures === 4,
    );
    expect(agent.at('/down')).toHaveLength(4);
    broken = false;
    await server.db.advanceClock(60);
    await until(
      () => agent.types('/down').filter((type) => type === 'review.decided').length,
      (count) => count === reviews.length,
    );
    const after = await server.listed('event_type=review.decided');
    expect(after[0]?.endpoint).toMatchObject({ circuit: 'closed', consecutive_failures: 0, open_until: null });
  });

  it('gives up what an open circuit held back for a whole round of attempts', async () => {
    const { server, agent } = await begin({ config: { backoff: [60_000], jitterPercent: 0, circuitFailures: 1, endpointConcurrency: 1 } });
    for (let n = 0; n < 3; n++) await server.approved(agent.url('/lost', status(500)));
    await until(
      () => server.listed('limit=1'),
      ([one]) => one?.endpoint.circuit === 'open',
    );
    // What is queued only after the clock went forward was not held back, and no other failure comes that would give it up.
    await server.caughtUp();
    await server.db.advanceClock(61);
    const failed = await until(
      () => server.listed('status=failed'),
      (all) => all.length > 0,
    );
    expect(failed.length).toBeGreaterThan(0);
    const outcomes = await until(
      () => server.outcomes(),
      (all) => all.some((one) => one.body.reason === 'endpoint_unavailable'),
    );
    expect(outcomes.find((one) => one.body.reason === 'endpoint_unavailable')?.body).toMatchObject({ attempts: 0, status_code: null });
  });
});

describe('an address', () => {
  it('that changed to a private one after the review was created is refused at the connection', async () => {
    const { server, agent } = await begin({
      allowNetworks: [],
      resolve: async () => [{ address: '127.0.0.1', family: 4 }],
    });
    const review = await server.approved(agent.url('/inside').replace('127.0.0.1', 'agent.test'));
    const refused = await server.head(review, (one) => one.last_error !== null);
    expect(refused.last_error).toMatch(/blocked address: 127\.0\.0\.1 .* \(loopback\)/);
    expect(agent.received).toHaveLength(0);
    const { body } = await server.call<{ attempt_log: { stage: string; status_code: number | null }[] }>('getDelivery', {
      params: { id: refused.id },
    });
    expect(body.attempt_log[0]).toMatchObject({ stage: 'before', status_code: null });
  });
});
