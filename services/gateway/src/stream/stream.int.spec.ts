import { StreamFrame, validator } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { anAgent, aPerson, type Edge, startEdge } from '../fixture/edge.js';
import { append, changesRequested, claimed, decided, Listener, requested, resubmitted } from '../fixture/stream.js';

// Two of these write and read megabytes.
jest.setTimeout(60_000);

const KEY = `gwk_${'a'.repeat(64)}`;

let edge: Edge;
let project: string;
const listeners: Listener[] = [];
beforeAll(async () => {
  edge = await startEdge({ STREAM_RECHECK: '100ms', STREAM_BUFFER: '256kb' });
});
afterAll(() => edge.close());
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
  edge.credentials.clear();
});

async function listen(credential: string, headers: Record<string, string> = {}, url = edge.url): Promise<Listener> {
  const listener = await Listener.open(`${url}/api/v1/events/stream`, { authorization: `Bearer ${credential}`, ...headers });
  listeners.push(listener);
  return listener.until(({ frames, ended }) => frames.length > 0 || ended, 'the first frame');
}

function keyOf(changes: Parameters<typeof anAgent>[0] = {}): void {
  project = newId('prj');
  edge.credentials.set(KEY, anAgent({ project_id: project, ...changes }));
}

describe('the stream', () => {
  it('tells a project what happens to its reviews, as the contract says', async () => {
    keyOf();
    const listener = await listen(KEY);
    expect(Object.fromEntries(Object.entries(listener.response.headers))).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    const review = newId('rev');
    await append(edge.store, project, review, requested({ priority: 'critical', timeout: { seconds: 60, action: 'expire' } }));
    await append(edge.store, newId('prj'), newId('rev'), requested());
    await append(edge.store, project, review, claimed(), changesRequested());
    await append(edge.store, project, review, resubmitted(2), decided({ version: 2 }));
    await listener.until((l) => l.types().includes('review.decided'), 'the decision');

    expect(listener.types()).toEqual([
      'open',
      'review.created',
      'review.urgent',
      'review.claimed',
      'review.action_taken',
      'review.retried',
      'review.resubmitted',
      'review.action_taken',
      'review.decided',
    ]);
    const validate = validator(StreamFrame, 'exact');
    for (const { data } of listener.frames) expect([data, validate(data).ok]).toEqual([data, true]);
    expect(listener.frames.at(-1)?.data).toMatchObject({
      review_id: review,
      project_id: project,
      template_slug: 'email',
      priority: 'critical',
      decision: 'approved',
      current_version: 2,
      action_id: 'approve',
    });
    expect(listener.frames[3]?.data).toMatchObject({ held_by: 'reviewer:maya@example.com', current_version: 1 });
    expect(listener.text).not.toContain('\r');
    expect(new Set(listener.frames.map(({ id }) => id)).size).toBe(listener.frames.length);
  });

  it('keeps to the templates of a key', async () => {
    const template_id = newId('tpl');
    keyOf({ template_ids: [template_id] });
    const listener = await listen(KEY);
    const [other, mine] = [newId('rev'), newId('rev')];
    await append(edge.store, project, other, requested(), decided());
    await append(edge.store, project, mine, requested({ template_id }), decided());
    await listener.until((l) => l.types().includes('review.decided'), 'the decision');
    expect(listener.of(other)).toEqual([]);
    expect(listener.of(mine)).toHaveLength(3);
  });

  it('tells a person of every project they have a role in', async () => {
    const [first, second, foreign] = [newId('prj'), newId('prj'), newId('prj')];
    edge.credentials.set('session', aPerson({ project_id: first, roles: { [first]: 'reviewer', [second]: 'admin' } }));
    const listener = await listen('session');
    const reviews = [newId('rev'), newId('rev'), newId('rev')] as const;
    for (const [index, at] of [foreign, first, second].entries()) await append(edge.store, at, reviews[index] as string, requested());
    await listener.until((l) => l.of(reviews[2]).length > 0, 'the second project');
    expect(listener.types()).toEqual(['open', 'review.created', 'review.created']);
    expect(listener.of(reviews[0])).toEqual([]);
  });
});

describe('H1 a reader that comes again', () => {
  it('is told exactly what it missed, in order, while more keeps happening; at any gateway', async () => {
    keyOf();
    const sibling = await edge.sibling();
    const told: string[] = [];
    const expected: string[] = [];
    let going = true;
    const writing = (async () => {
      while (going) {
        const review = newId('rev');
        await append(edge.store, project, review, requested({ priority: 'high' }), decided());
        for (const type of ['review.created', 'review.urgent', 'review.action_taken', 'review.decided']) expected.push(`${review} ${type}`);
      }
    })();
    let last: Record<string, string> = {};
    for (let round = 0; round < 12; round++) {
      const listener = await listen(KEY, last, round % 2 ? sibling.url : edge.url);
      const enough = round * 7 + 5;
      await listener.until((l) => l.frames.length > enough, `${enough} frames`);
      listener.close();
      const kept = listener.frames.slice(0, enough + (round % 3));
      for (const { data } of kept) if ('review_id' in data) told.push(`${data.review_id} ${data.type}`);
      last = { 'last-event-id': kept.findLast(({ id }) => id !== null)?.id ?? '' };
      expect(listener.types()).not.toContain('reset');
    }
    going = false;
    await writing;
    const listener = await listen(KEY, last);
    await listener.until((l) => told.length + l.frames.length - 1 >= expected.length - expected.indexOf(told[0] as string), 'the rest');
    for (const { data } of listener.frames) if ('review_id' in data) told.push(`${data.review_id} ${data.type}`);
    expect(told).toEqual(expected.slice(expected.indexOf(told[0] as string)));
    await sibling.close();
  });

  it('and one that is new miss nothing from their first frame on', async () => {
    keyOf();
    const credentials = Array.from({ length: 8 }, (_, i) => `gwk_new_${i}`);
    for (const credential of credentials) edge.credentials.set(credential, anAgent({ project_id: project }));
    let going = true;
    const writing = (async () => {
      while (going) await append(edge.store, project, newId('rev'), requested(), decided());
    })();
    const opened: [string, Listener][] = [];
    for (let round = 0; round < 4; round++) {
      opened.push(
        ...(await Promise.all(credentials.map(async (credential) => [credential, await listen(credential)] as [string, Listener]))),
      );
    }
    going = false;
    await writing;
    const last = newId('rev');
    await append(edge.store, project, last, requested());
    for (const [, listener] of opened) await listener.until((l) => l.of(last).length > 0, 'the last review');
    for (const [credential, listener] of opened) {
      listener.close();
      const again = await listen(credential, { 'last-event-id': listener.frames[0]?.id ?? '' });
      await again.until((l) => l.of(last).length > 0, 'the last review, replayed');
      expect(listener.frames.slice(1)).toEqual(again.frames.slice(1));
      again.close();
    }
  });

  it('can resume from the first frame of a stream on which nothing happened', async () => {
    keyOf();
    const quiet = await listen(KEY);
    quiet.close();
    const review = newId('rev');
    await append(edge.store, project, review, requested());
    const listener = await listen(KEY, { 'last-event-id': quiet.lastId });
    await listener.until((l) => l.of(review).length === 1, 'what happened meanwhile');
    expect(listener.types()).toEqual(['open', 'review.created']);
  });

  it('H2 is told to begin anew when the past is older than a day', async () => {
    keyOf();
    const before = await listen(KEY);
    before.close();
    await append(edge.store, project, newId('rev'), requested());
    await edge.db.advanceClock(86_400 + 60);
    const listener = await listen(KEY, { 'last-event-id': before.lastId });
    await listener.until((l) => l.frames.length === 2, 'the reset');
    expect(listener.types()).toEqual(['open', 'reset']);
    const review = newId('rev');
    await append(edge.store, project, review, requested());
    await listener.until((l) => l.of(review).length === 1, 'what happens now');
    const again = await listen(KEY, { 'last-event-id': listener.frames[1]?.id ?? '' });
    await again.until((l) => l.of(review).length === 1, 'the replay from the reset');
    expect(again.types()).toEqual(['open', 'review.created']);
  });

  it('H2 is told to begin anew after more than 10,000 frames', async () => {
    keyOf();
    const before = await listen(KEY);
    before.close();
    const other = await listen(KEY);
    const review = newId('rev');
    await append(edge.store, project, review, requested());
    for (let i = 0; i < 20; i++) await append(edge.store, project, review, ...Array.from({ length: 500 }, () => claimed()));
    await other.until((l) => l.of(review).length === 10_001, 'everything, as it happens');
    const listener = await listen(KEY, { 'last-event-id': before.lastId });
    await listener.until((l) => l.frames.length === 2, 'the reset');
    expect(listener.types()).toEqual(['open', 'reset']);
    const near = await listen(KEY, { 'last-event-id': other.frames[1]?.id ?? '' });
    await near.until((l) => l.of(review).length === 10_000, 'the 10,000 frames that are kept');
    expect(near.types()).not.toContain('reset');
  });

  it.each(['nonsense', 'MTIzLg', Buffer.from('zzzzzzzzzz.0').toString('base64url')])(
    'begins anew with the id %s that is none of ours',
    async (id) => {
      keyOf();
      const listener = await listen(KEY, { 'last-event-id': id });
      const review = newId('rev');
      await append(edge.store, project, review, requested());
      await listener.until((l) => l.of(review).length === 1, 'what happens now');
      expect(listener.types()).toEqual(['open', 'reset', 'review.created']);
    },
  );
});

describe('tickets', () => {
  const ticketOf = async (credential: string) => {
    const response = await edge.fetch('/api/v1/events/ticket', { method: 'POST', key: credential });
    const body = (await response.json()) as { ticket: string; expires_in: number };
    expect([response.status, body]).toEqual([200, { ticket: expect.stringMatching(/^[0-9a-f]{48}$/), expires_in: 60 }]);
    return body.ticket;
  };
  const use = async (ticket: string, url = edge.url) => {
    const listener = await Listener.open(`${url}/api/v1/events/stream?ticket=${ticket}`);
    listeners.push(listener);
    await listener.until((l) => l.text !== '', 'an answer');
    return [listener.status, listener.status === 200 ? 'open' : JSON.parse(listener.text).error.code];
  };

  it('open one stream, once, at any gateway', async () => {
    keyOf();
    const sibling = await edge.sibling();
    const ticket = await ticketOf(KEY);
    expect(await use(ticket, sibling.url)).toEqual([200, 'open']);
    expect(await use(ticket)).toEqual([401, 'invalid_ticket']);
    await sibling.close();
  });

  it('open it for the caller they were given to', async () => {
    keyOf();
    const listener = await Listener.open(`${edge.url}/api/v1/events/stream?ticket=${await ticketOf(KEY)}`);
    listeners.push(listener);
    const review = newId('rev');
    await append(edge.store, newId('prj'), newId('rev'), requested());
    await append(edge.store, project, review, requested());
    await listener.until((l) => l.of(review).length === 1, 'the own review');
    expect(listener.types()).toEqual(['open', 'review.created']);
  });

  it('are good for a minute, and for nobody whose credential has ended', async () => {
    keyOf();
    edge.credentials.set('session', aPerson());
    const [late, revoked] = [await ticketOf(KEY), await ticketOf('session')];
    edge.credentials.delete('session');
    expect(await use(revoked)).toEqual([401, 'invalid_ticket']);
    await edge.db.advanceClock(61);
    expect(await use(late)).toEqual([401, 'invalid_ticket']);
  });

  it.each(['', 'x', 'f'.repeat(48), 'F'.repeat(48)])('are not guessed: %j', async (ticket) => {
    expect(await use(ticket)).toEqual([401, 'invalid_ticket']);
  });

  it('are asked for where there is no credential', async () => {
    const response = await edge.fetch('/api/v1/events/stream');
    expect(await response.json()).toMatchObject({ error: { code: 'missing_ticket' } });
  });

  it('leave nothing in the database but a hash, and that not for long', async () => {
    keyOf();
    const ticket = await ticketOf(KEY);
    const stored = JSON.stringify(
      (await edge.db.ownerPool.query('select *, encode(hash, $1) as hex from gateway.stream_tickets', ['hex'])).rows,
    );
    expect(stored).not.toContain(ticket);
    await edge.db.advanceClock(61);
    await ticketOf(KEY);
    expect((await edge.db.ownerPool.query('select 1 from gateway.stream_tickets')).rowCount).toBe(1);
  });
});

describe('who may listen', () => {
  it('five at a time for a key, and again once one has left', async () => {
    keyOf();
    const five = [];
    for (let i = 0; i < 5; i++) five.push(await listen(KEY));
    const sixth = await edge.fetch('/api/v1/events/stream', { key: KEY });
    expect([sixth.status, ((await sixth.json()) as { error: { code: string } }).error.code]).toEqual([429, 'too_many_connections']);
    five[0]?.close();
    for (;;) {
      const listener = await listen(KEY);
      if (listener.status === 200) break;
    }
  });

  it('H4 nobody whose credential was revoked, or lost the scope or the project', async () => {
    keyOf();
    const other = newId('prj');
    edge.credentials.set('session', aPerson({ project_id: project, roles: { [project]: 'reviewer', [other]: 'reviewer' } }));
    const [agent, person] = [await listen(KEY), await listen('session')];
    const known = edge.credentials.get('session') as ReturnType<typeof aPerson>;
    edge.credentials.set('session', { ...known, roles: { [project]: 'reviewer' } });
    edge.credentials.delete(KEY);
    await agent.until((l) => l.ended, 'the end of the stream');
    // The check that ended the agent's stream has looked at the person too.
    const [hidden, told] = [newId('rev'), newId('rev')];
    await append(edge.store, other, hidden, requested());
    await append(edge.store, project, told, requested());
    await person.until((l) => l.of(told).length === 1, 'the project that is left');
    expect(person.of(hidden)).toEqual([]);
    edge.credentials.set('session', { ...known, roles: {} });
    await person.until((l) => l.ended, 'the end of the stream');
  });

  it('H3 nobody who does not keep up; the others are not held up', async () => {
    keyOf();
    const [slow, quick] = [await listen(KEY), await listen(KEY)];
    slow.response.pause();
    const review = newId('rev');
    await append(edge.store, project, review, requested());
    const long = `${'m'.repeat(20_000)}@example.com`;
    for (let i = 0; i < 50; i++) await append(edge.store, project, review, ...Array.from({ length: 20 }, () => claimed(long)));
    await quick.until((l) => l.of(review).length === 1_001, 'everything');
    slow.response.resume();
    await slow.until((l) => l.ended, 'the end');
    expect(slow.of(review).length).toBeLessThan(1_001);
    expect(quick.ended).toBe(false);
  });
});

it('ends its streams when the gateway stops', async () => {
  keyOf();
  const sibling = await edge.sibling();
  const listener = await listen(KEY, {}, sibling.url);
  await sibling.close();
  await listener.until((l) => l.ended, 'the end');
  expect(listener.types()).toEqual(['open']);
});
