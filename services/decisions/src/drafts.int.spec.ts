/** Unsent edits (HRP §2.6): no events, kept until what they are about has passed, and never past it (K1). */
import type { Actor, DraftReply } from '@countersign/contracts';
import { newId, redactStream } from '@countersign/event-store';
import { act, draftStands, loadReview, resubmit, withdraw } from '@countersign/review';
import { PAYLOAD, within } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { saveDraft } from './drafts.js';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const EDITS = { subject: 'Half ty' };
const save = (id: string, draft_payload: unknown = EDITS, actor: Actor = server.ann) =>
  server.call('saveReviewDraft', actor, id, { body: { draft_payload } });
const discard = (id: string, actor: Actor = server.ann) => server.call('discardReviewDraft', actor, id);
const press = (id: string, action_id: string, more: object = {}, actor: Actor = server.ann) =>
  server.call('actOnReview', actor, id, { body: { action_id, ...more } });
/** What the reading service is told. */
async function kept(id: string): Promise<DraftReply['draft']> {
  const answer = await server.client.call<DraftReply>('decisions', {
    method: 'GET',
    path: `/internal/reviews/${id}/draft`,
    actor: { kind: 'anonymous' },
    request_id: 'test-request',
  });
  expect(answer.status).toBe(200);
  return answer.body.draft;
}
const shown = async (id: string) => {
  const [draft, { state }] = [await kept(id), await loadReview(server.store, id)];
  return draft && draftStands(state, draft) ? draft.payload : null;
};
const sentBack = async () => {
  const id = await server.ask();
  await press(id, 'request_changes', { feedback: 'x' });
  return id;
};

describe('a draft', () => {
  it('is kept beside the log and shown with its author; the newest save is the one', async () => {
    const id = await server.ask();
    const { position } = await server.store.head();
    const { status, body } = await save(id);
    expect([status, body]).toEqual([200, { ok: true }]);
    expect(await kept(id)).toMatchObject({ payload: EDITS, by: 'ann' });
    await save(id, { subject: 'Bob’s' }, server.bob);
    const draft = await kept(id);
    expect(draft).toMatchObject({ payload: { subject: 'Bob’s' }, by: 'bob' });
    expect(draft?.at).toMatch(/^\d{4}-.*\.\d{3}Z$/);
    expect((await server.store.head()).position).toBe(position);
  });

  it('is discarded by whoever may keep one, and may be gone already', async () => {
    const id = await server.ask();
    await save(id);
    for (let n = 0; n < 2; n++) {
      const { status, body } = await discard(id, server.bob);
      expect([status, body]).toEqual([200, { ok: true }]);
    }
    expect(await kept(id)).toBeNull();
  });

  it('may be half typed, but not of what is not editable', async () => {
    const id = await server.ask();
    expect((await save(id, { subject: 7, recipients: 3 })).status).toBe(200);
    const { status, body } = await save(id, { recipients: 4 });
    expect([status, body.error]).toMatchObject([400, { code: 'field_not_editable', param: 'edited_payload.recipients' }]);
    for (const wrong of [undefined, [], 'text'])
      expect((await save(id, wrong === undefined ? null : wrong)).code).toBe('validation_failed');
  });

  it('is kept while changes are awaited, too', async () => {
    const id = await sentBack();
    expect((await save(id)).status).toBe(200);
    expect(await shown(id)).toEqual(EDITS);
  });

  it('is nobody’s who may not decide, and of no review that is not open', async () => {
    const id = await server.ask();
    const decided = await server.ask();
    await press(decided, 'approve');
    const expired = await server.ask(within('expire', 60));
    await server.db.advanceClock(60);
    const answers = async (review: string, actor: Actor) => [(await save(review, EDITS, actor)).code, (await discard(review, actor)).code];
    expect(await answers(id, server.agent)).toEqual(['human_actor_required', 'human_actor_required']);
    expect(await answers(id, server.stranger)).toEqual(['review_not_found', 'review_not_found']);
    expect(await answers(newId('rev'), server.ann)).toEqual(['review_not_found', 'review_not_found']);
    for (const closed of [decided, expired]) expect(await answers(closed, server.ann)).toEqual(['not_pending', 'not_pending']);
    expect(await kept(id)).toBeNull();
  });
});

describe('is dropped', () => {
  it.each<[string, () => Promise<string>, (id: string) => Promise<unknown>]>([
    ['a decision', () => server.ask(), (id) => press(id, 'approve', {}, server.bob)],
    ['a request for changes', () => server.ask(), (id) => press(id, 'request_changes', { feedback: 'x' }, server.bob)],
    ['its end', sentBack, (id) => press(id, 'cancel_iteration', {}, server.bob)],
    [
      'its answer',
      sentBack,
      (id) => server.happen(id, server.agent, (s, now) => resubmit({ actor: server.agent, payload: PAYLOAD, version: 2 }, s, now)),
    ],
    ['a withdrawal', () => server.ask(), (id) => server.happen(id, server.agent, (s, now) => withdraw({ actor: server.agent }, s, now))],
    [
      'the clock',
      () => server.ask(within('expire', 60)),
      async (id) => {
        await server.db.advanceClock(60);
        await server.fire(id, 'timeout');
      },
    ],
    ['erasure', () => server.ask(), (id) => redactStream(server.db.ownerPool, { stream: id, reason: 'asked to be forgotten' })],
  ])('by %s', async (_what, open, happens) => {
    const id = await open();
    await save(id);
    await happens(id);
    expect(await shown(id)).toBeNull();
    await server.caughtUp();
    expect(await kept(id)).toBeNull();
  });

  it('neither by a side effect, nor by a claim', async () => {
    const id = await server.ask();
    await save(id);
    await press(id, 'escalate');
    await server.call('claimReview', server.ann, id);
    await server.caughtUp();
    expect(await shown(id)).toEqual(EDITS);
  });

  it('not by what happened before it, however often the log is handled', async () => {
    const id = await sentBack();
    await save(id);
    await server.bus.seek('decisions', 0);
    await server.caughtUp();
    expect(await shown(id)).toEqual(EDITS);
  });

  it('when it is saved in the very millisecond of what settles it', async () => {
    const id = await server.ask();
    const { now } = await server.store.head();
    // Events are dated to the millisecond, a clock goes on within it.
    await server.db.stopClock(new Date(Date.parse(now) + 5).toISOString().replace('Z', '400Z'));
    await save(id);
    await press(id, 'approve');
    await server.db.stopClock(null);
    await server.caughtUp();
    expect(await kept(id)).toBeNull();
  });

  it('when it is saved while the review is settled, after that was handled', async () => {
    const id = await server.ask();
    // The save has read the review as open; then it is decided, and the service handles that.
    const read = server.store.readStream.bind(server.store);
    let reads = 0;
    const slow: typeof server.store.readStream = async (stream, options) => {
      const loaded = await read<never>(stream, options);
      if (stream === id && ++reads === 1) {
        await server.happen(id, server.bob, (state, now) => act({ actor: server.bob, action: { id: 'approve' } }, state, now));
        await server.caughtUp();
      }
      return loaded;
    };
    Object.assign(server.store, { readStream: slow });
    const { status, code } = await save(id);
    Object.assign(server.store, { readStream: read });
    expect([status, code]).toEqual([409, 'not_pending']);
    expect(await kept(id)).toBeNull();
  });
});

it('two who save at once leave one of the two whole', async () => {
  const id = await server.ask();
  const person = { review: id, project: server.project, person: server.ann.person_id };
  await Promise.all(
    Array.from({ length: 20 }, (_, n) => saveDraft(server.db.pool, { ...person, author: `No. ${n}`, payload: { subject: `No. ${n}` } })),
  );
  const draft = await kept(id);
  expect(draft?.payload).toEqual({ subject: draft?.by });
});
