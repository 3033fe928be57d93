import { StreamFrame, validator } from '@countersign/contracts';
import { newId } from '@countersign/event-store';
import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { anAgent, aPerson } from '../fixture/edge.js';
import { append, changesRequested, claimed, decided, Listener, requested, resubmitted } from '../fixture/stream.js';
import { KEY, StreamStage } from '../fixture/stream-stage.js';

// Two of these write and read megabytes.
jest.setTimeout(300_000);

let stage: StreamStage;
beforeAll(async () => {
  stage = await StreamStage.start();
});
afterAll(() => stage.close());
afterEach(() => stage.reset());

describe('the stream', () => {
  it('tells a project what happens to its reviews, as the contract says', async () => {
    stage.keyOf();
    const listener = await stage.listen(KEY);
    expect(Object.fromEntries(Object.entries(listener.response.headers))).toMatchObject({
      'content-type': 'text/event-stream',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
      'x-request-id': expect.any(String),
    });
    const review = newId('rev');
    await append(stage.edge.store, stage.project, review, requested({ priority: 'critical', timeout: { seconds: 60, action: 'expire' } }));
    await append(stage.edge.store, newId('prj'), newId('rev'), requested());
    await append(stage.edge.store, stage.project, review, claimed(), changesRequested());
    await append(stage.edge.store, stage.project, review, resubmitted(2), decided({ version: 2 }));
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
      project_id: stage.project,
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
    stage.keyOf({ template_ids: [template_id] });
    const listener = await stage.listen(KEY);
    const [other, mine] = [newId('rev'), newId('rev')];
    await append(stage.edge.store, stage.project, other, requested(), decided());
    await append(stage.edge.store, stage.project, mine, requested({ template_id }), decided());
    await listener.until((l) => l.types().includes('review.decided'), 'the decision');
    expect(listener.of(other)).toEqual([]);
    expect(listener.of(mine)).toHaveLength(3);
  });

  it('tells a person of every project they have a role in', async () => {
    const [first, second, foreign] = [newId('prj'), newId('prj'), newId('prj')];
    stage.edge.credentials.set('session', aPerson({ project_id: first, roles: { [first]: 'reviewer', [second]: 'admin' } }));
    const listener = await stage.listen('session');
    const reviews = [newId('rev'), newId('rev'), newId('rev')] as const;
    for (const [index, at] of [foreign, first, second].entries()) await append(stage.edge.store, at, reviews[index] as string, requested());
    await listener.until((l) => l.of(reviews[2]).length > 0, 'the second project');
    expect(listener.types()).toEqual(['open', 'review.created', 'review.created']);
    expect(listener.of(reviews[0])).toEqual([]);
  });
});

describe('H1 a reader that comes again', () => {
  it('is told exactly what it missed, in order, while more keeps happening; at any gateway', async () => {
    stage.keyOf();
    const sibling = await stage.edge.sibling();
    const told: string[] = [];
    const expected: string[] = [];
    let going = true;
    const writing = (async () => {
      while (going) {
        const review = newId('rev');
        await append(stage.edge.store, stage.project, review, requested({ priority: 'high' }), decided());
        for (const type of ['review.created', 'review.urgent', 'review.action_taken', 'review.decided']) expected.push(`${review} ${type}`);
      }
    })();
    let last: Record<string, string> = {};
    for (let round = 0; round < 12; round++) {
      const listener = await stage.listen(KEY, last, round % 2 ? sibling.url : stage.edge.url);
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
    const listener = await stage.listen(KEY, last);
    await listener.until((l) => told.length + l.frames.length - 1 >= expected.length - expected.indexOf(told[0] as string), 'the rest');
    for (const { data } of listener.frames) if ('review_id' in data) told.push(`${data.review_id} ${data.type}`);
    expect(told).toEqual(expected.slice(expected.indexOf(told[0] as string)));
    await sibling.close();
  });

  it('is told the rest of an event it was told a part of, also when nothing has happened since', async () => {
    stage.keyOf();
    const first = await stage.listen(KEY);
    await append(stage.edge.store, stage.project, newId('rev'), requested({ priority: 'high' }));
    await first.until((l) => l.types().includes('review.urgent'), 'both frames of the request');
    const part = first.frames.find(({ data }) => data.type === 'review.created')?.id ?? '';
    const again = await stage.listen(KEY, { 'last-event-id': part });
    await again.until((l) => l.frames.length > 1, 'the rest');
    expect(again.types()).toEqual(['open', 'review.urgent']);
  });

  it('and one that is new miss nothing from their first frame on', async () => {
    stage.keyOf();
    const credentials = Array.from({ length: 8 }, (_, i) => `gwk_new_${i}`);
    for (const credential of credentials) stage.edge.credentials.set(credential, anAgent({ project_id: stage.project }));
    let going = true;
    const writing = (async () => {
      while (going) await append(stage.edge.store, stage.project, newId('rev'), requested(), decided());
    })();
    const opened: [string, Listener][] = [];
    for (let round = 0; round < 4; round++) {
      opened.push(
        ...(await Promise.all(credentials.map(async (credential) => [credential, await stage.listen(credential)] as [string, Listener]))),
      );
    }
    going = false;
    await writing;
    const last = newId('rev');
    await append(stage.edge.store, stage.project, last, requested());
    for (const [, listener] of opened) await listener.until((l) => l.of(last).length > 0, 'the last review');
    for (const [credential, listener] of opened) {
      listener.close();
      const again = await stage.listen(credential, { 'last-event-id': listener.frames[0]?.id ?? '' });
      await again.until((l) => l.of(last).length > 0, 'the last review, replayed');
      expect(listener.frames.slice(1)).toEqual(again.frames.slice(1));
      again.close();
    }
  });

  it('can resume from the first frame of a stream on which nothing happened', async () => {
    stage.keyOf();
    const quiet = await stage.listen(KEY);
    quiet.close();
    const review = newId('rev');
    await append(stage.edge.store, stage.project, review, requested());
    const listener = await stage.listen(KEY, { 'last-event-id': quiet.lastId });
    await listener.until((l) => l.of(review).length === 1, 'what happened meanwhile');
    expect(listener.types()).toEqual(['open', 'review.created']);
  });

  it('H2 is told to begin anew when the past is older than a day', async () => {
    stage.keyOf();
    const before = await stage.listen(KEY);
    const missed = newId('rev');
    await append(stage.edge.store, stage.project, missed, requested());
    // Past is what the gateway has told: what it has not is news, however old.
    await before.until((l) => l.of(missed).length === 1, 'what another misses');
    before.close();
    await stage.edge.db.advanceClock(86_400 + 60);
    const listener = await stage.listen(KEY, { 'last-event-id': before.frames[0]?.id ?? '' });
    await listener.until((l) => l.frames.length === 2, 'the reset');
    expect(listener.types()).toEqual(['open', 'reset']);
    const review = newId('rev');
    await append(stage.edge.store, stage.project, review, requested());
    await listener.until((l) => l.of(review).length === 1, 'what happens now');
    const again = await stage.listen(KEY, { 'last-event-id': listener.frames[1]?.id ?? '' });
    await again.until((l) => l.of(review).length === 1, 'the replay from the reset');
    expect(again.types()).toEqual(['open', 'review.created']);
  });

  it('H2 is told to begin anew after more than 10,000 frames', async () => {
    stage.keyOf();
    const before = await stage.listen(KEY);
    before.close();
    const other = await stage.listen(KEY);
    const review = newId('rev');
    await append(stage.edge.store, stage.project, review, requested());
    for (let i = 0; i < 20; i++) await append(stage.edge.store, stage.project, review, ...Array.from({ length: 500 }, () => claimed()));
    await other.until((l) => l.of(review).length === 10_001, 'everything, as it happens');
    const listener = await stage.listen(KEY, { 'last-event-id': before.lastId });
    await listener.until((l) => l.frames.length === 2, 'the reset');
    expect(listener.types()).toEqual(['open', 'reset']);
    const near = await stage.listen(KEY, { 'last-event-id': other.frames[1]?.id ?? '' });
    await near.until((l) => l.of(review).length === 10_000, 'the 10,000 frames that are kept');
    expect(near.types()).not.toContain('reset');
  });

  it.each(['nonsense', 'MTIzLg', Buffer.from('zzzzzzzzzz.0').toString('base64url')])(
    'begins anew with the id %s that is none of ours',
    async (id) => {
      stage.keyOf();
      const listener = await stage.listen(KEY, { 'last-event-id': id });
      const review = newId('rev');
      await append(stage.edge.store, stage.project, review, requested());
      await listener.until((l) => l.of(review).length === 1, 'what happens now');
      expect(listener.types()).toEqual(['open', 'reset', 'review.created']);
    },
  );
});

describe('who may listen', () => {
  it('five at a time for a key, and again once one has left', async () => {
    stage.keyOf();
    const five = [];
    for (let i = 0; i < 5; i++) five.push(await stage.listen(KEY));
    const sixth = await stage.edge.fetch('/api/v1/events/stream', { key: KEY });
    expect([sixth.status, ((await sixth.json()) as { error: { code: string } }).error.code]).toEqual([429, 'too_many_connections']);
    five[0]?.close();
    for (;;) {
      const listener = await stage.listen(KEY);
      if (listener.status === 200) break;
    }
  });

  it('H4 nobody whose credential was revoked, or lost the scope or the project', async () => {
    stage.keyOf();
    const other = newId('prj');
    stage.edge.credentials.set(
      'session',
      aPerson({ project_id: stage.project, roles: { [stage.project]: 'reviewer', [other]: 'reviewer' } }),
    );
    const [agent, person] = [await stage.listen(KEY), await stage.listen('session')];
    const known = stage.edge.credentials.get('session') as ReturnType<typeof aPerson>;
    stage.edge.credentials.set('session', { ...known, roles: { [stage.project]: 'reviewer' } });
    stage.edge.credentials.delete(KEY);
    await agent.until((l) => l.ended, 'the end of the stream');
    // The check that ended the agent's stream has looked at the person too.
    const [hidden, told] = [newId('rev'), newId('rev')];
    await append(stage.edge.store, other, hidden, requested());
    await append(stage.edge.store, stage.project, told, requested());
    await person.until((l) => l.of(told).length === 1, 'the project that is left');
    expect(person.of(hidden)).toEqual([]);
    stage.edge.credentials.set('session', { ...known, roles: {} });
    await person.until((l) => l.ended, 'the end of the stream');
  });

  it('H3 nobody who does not keep up; the others are not held up', async () => {
    stage.keyOf();
    const [slow, quick] = [await stage.listen(KEY), await stage.listen(KEY)];
    slow.response.pause();
    const review = newId('rev');
    await append(stage.edge.store, stage.project, review, requested());
    const long = `${'m'.repeat(20_000)}@example.com`;
    for (let i = 0; i < 50; i++) await append(stage.edge.store, stage.project, review, ...Array.from({ length: 20 }, () => claimed(long)));
    await quick.until((l) => l.of(review).length === 1_001, 'everything');
    slow.response.resume();
    await slow.until((l) => l.ended, 'the end');
    expect(slow.of(review).length).toBeLessThan(1_001);
    expect(quick.ended).toBe(false);
  });
});

it('ends its streams when the gateway stops', async () => {
  stage.keyOf();
  const sibling = await stage.edge.sibling();
  const listener = await stage.listen(KEY, {}, sibling.url);
  await sibling.close();
  await listener.until((l) => l.ended, 'the end');
  expect(listener.types()).toEqual(['open']);
});
