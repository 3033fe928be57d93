/** The action pipeline through HTTP: what a person does, and the routes that are called by older names (HRP §2.4, §2.5). */
import type { Actor } from '@countersign/contracts';
import type { StoredEvent } from '@countersign/event-store';
import { digest } from '@countersign/evidence';
import { resubmit } from '@countersign/review';
import { type Asked, PAYLOAD, SHIP } from '@countersign/review/fixture';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';

let server: Server;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.close());

const DIGEST = digest(PAYLOAD);
const press = (id: string, body: unknown, actor: Actor = server.ann) => server.call('actOnReview', actor, id, { body });
const approve = (id: string, more: object = {}, actor: Actor = server.ann) => press(id, { action_id: 'approve', ...more }, actor);
const sendBack = (id: string) => press(id, { action_id: 'request_changes', feedback: 'Shorter.' });

describe('a decision', () => {
  it('approves what was shown, and says how the person proved themselves', async () => {
    const id = await server.ask();
    const { status, headers, body } = await approve(id, { version: 1, payload_digest: DIGEST });
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'decided',
      decision: 'approved',
      decided_by: 'ann@example.org',
      decided_by_verified: true,
      decided_by_auth: { method: 'password' },
      shown: 'exact',
      approved_value: PAYLOAD,
      approved_digest: DIGEST,
      was_edited: false,
      last_action_id: 'approve',
      last_action_by: 'reviewer:ann@example.org',
      available_actions: [],
    });
    const [, event] = (await server.facts(id)) as [StoredEvent, StoredEvent];
    const signedIn = server.ann.auth.at;
    // The log holds whole seconds since then (K8), counted when the command was judged.
    const at = Date.parse(body.decided_by_auth?.at ?? '');
    const { proof } = event.body as { proof: { authenticated_seconds_ago: number } };
    expect(at).toBe(Date.parse(event.time) - proof.authenticated_seconds_ago * 1_000);
    expect(at).toBeGreaterThanOrEqual(Date.parse(signedIn));
    expect(at).toBeLessThan(Date.parse(signedIn) + 60_000);
    expect(headers['countersign-seen']).toBe(`${event.position}.${event.bucket}`);
    expect(headers).not.toHaveProperty('deprecation');
    expect(event).toMatchObject({
      type: 'review.decided',
      body: {
        decided_by: { kind: 'person', id: server.ann.person_id, email: 'ann@example.org' },
        proof: { method: 'password', session_id: server.ann.session_id },
        shown: { basis: 'exact', version: 1, digest: DIGEST },
        approved_digest: DIGEST,
      },
      meta: { actor: { kind: 'person', id: server.ann.person_id }, request_id: 'test-request' },
    });
  });

  it('that names nothing it saw is recorded as assumed', async () => {
    expect((await approve(await server.ask())).body.shown).toBe('assumed');
  });

  it('with an edit is merged key by key; values sent back unchanged are no edit', async () => {
    const { body } = await approve(await server.ask(), { edited_payload: { subject: 'Better' } });
    const merged = { ...PAYLOAD, subject: 'Better' };
    expect(body).toMatchObject({ decision: 'edited', was_edited: true, approved_value: merged, approved_digest: digest(merged) });
    expect(body).toMatchObject({ edited_payload: { subject: 'Better' }, payload: PAYLOAD, payload_digest: DIGEST });
    const same = await approve(await server.ask(), { edited_payload: { ...PAYLOAD } });
    expect(same.body).toMatchObject({ decision: 'approved', was_edited: false, edited_payload: null });
  });

  it('rejects with a reason, and approves nothing', async () => {
    const { body } = await press(await server.ask(), { action_id: 'reject', feedback: 'No.' });
    expect(body).toMatchObject({ decision: 'rejected', feedback: 'No.', approved_value: null, approved_digest: null });
  });

  it('is made by an action of the template’s own, and then by no other name', async () => {
    const id = await server.ask({
      config: { actions: [SHIP, { id: 'drop', label: 'Drop', kind: 'decision', decision_value: 'rejected' }] },
    });
    expect((await approve(id)).code).toBe('action.unknown_action');
    expect((await press(id, { action_id: 'ship' })).body).toMatchObject({
      decision: 'approved',
      action_value: 'ship',
      action_label: 'Ship it',
    });
  });

  it('sent again is that decision again, and another one is told what was decided', async () => {
    const id = await server.ask();
    const first = await approve(id, { feedback: 'Fine.' });
    const again = await approve(id, { feedback: 'Fine.', version: 1 });
    expect([again.status, again.headers['idempotent-replay'], again.body]).toEqual([200, 'true', first.body]);
    // Whoever never had the first answer has what they did in their next list (K14).
    expect(again.headers['countersign-seen']).toMatch(/^[1-9]\d*\.\d+$/);
    expect(again.headers['countersign-seen']).toBe(first.headers['countersign-seen']);
    const others: [object, Actor][] = [
      [{ feedback: 'Very fine.' }, server.ann],
      [{ feedback: 'Fine.', edited_payload: { subject: 'x' } }, server.ann],
      [{ feedback: 'Fine.' }, server.bob],
    ];
    for (const [more, actor] of others) {
      const { status, body } = await approve(id, more, actor);
      expect([status, body.error]).toMatchObject([
        409,
        {
          code: 'review_already_decided',
          review: { id, status: 'decided', decision: 'approved', decided_by: 'ann@example.org', decided_at: first.body.decided_at },
        },
      ]);
    }
    expect(await server.types(id)).toEqual(['review.requested', 'review.decided']);
  });
});

describe('a request for changes', () => {
  it('waits for the agent; it can be taken back, or end in a rejection', async () => {
    const id = await server.ask();
    const asked = await sendBack(id);
    expect(asked.body).toMatchObject({ status: 'awaiting_iteration', feedback: 'Shorter.', iteration_count: 0 });
    expect(asked.body.available_actions.map((action) => action.id)).toEqual(['cancel_iteration', 'reject_from_iteration']);
    expect((await sendBack(id)).headers['idempotent-replay']).toBe('true');
    expect((await press(id, { action_id: 'cancel_iteration' })).body).toMatchObject({ status: 'pending', feedback: null });
    await sendBack(id);
    expect((await press(id, { action_id: 'reject_from_iteration' })).body).toMatchObject({ status: 'decided', decision: 'rejected' });
  });

  it('is one too many after as many rounds as the review allows: it closes the review', async () => {
    const id = await server.ask({ body: { max_iterations: 1 } });
    await sendBack(id);
    await server.happen(id, server.agent, (state, now) => resubmit({ actor: server.agent, payload: PAYLOAD, version: 2 }, state, now));
    const { body } = await press(id, { action_id: 'request_changes', feedback: 'Again.' });
    expect(body).toMatchObject({
      status: 'decided',
      decision: 'max_iterations_reached',
      decided_by: 'system:max_iterations',
      feedback: 'Again.',
    });
  });
});

it('a side effect changes nothing but what was last done', async () => {
  const id = await server.ask();
  const { body } = await press(id, { action_id: 'escalate' });
  expect(body).toMatchObject({ status: 'pending', decision: null, last_action_id: 'escalate', last_action_kind: 'side_effect' });
  expect((await server.facts(id)).at(-1)).toMatchObject({ type: 'review.action_taken', body: { webhook_event: 'mail.escalated' } });
  expect((await press(id, { action_id: 'escalate' })).headers['idempotent-replay']).toBe('true');
});

describe('the deprecated routes', () => {
  const successor = (id: string) => ({
    deprecation: 'true',
    sunset: 'Wed, 01 Dec 2027 00:00:00 GMT',
    link: `</api/v1/reviews/${id}/action>; rel="successor-version"`,
  });
  const decide = (id: string, body: object) => server.call('decideReview', server.ann, id, { body });

  it('decide as their actions do, and say what to call instead', async () => {
    const id = await server.ask();
    const { status, headers, body } = await decide(id, { decision: 'approved', reviewer: 'eve@example.org', action_label: 'Mine' });
    expect(status).toBe(200);
    expect(headers).toMatchObject(successor(id));
    expect(body).toMatchObject({ decision: 'approved', decided_by: 'ann@example.org', action_value: 'approve', action_label: 'Approve' });
    const again = await decide(id, { decision: 'approved' });
    expect(again.headers).toMatchObject({ ...successor(id), 'idempotent-replay': 'true' });
    expect((await approve(id)).headers['idempotent-replay']).toBe('true');
  });

  it('map to the template’s own approval and rejection, without a reason for the latter', async () => {
    const config = {
      actions: [SHIP, { id: 'drop', label: 'Drop', kind: 'decision', decision_value: 'rejected', requires_feedback: true }],
    };
    const asked = { config } as Asked;
    expect((await decide(await server.ask(asked), { decision: 'edited', edited_payload: { subject: 'B' } })).body).toMatchObject({
      decision: 'edited',
      action_value: 'ship',
    });
    expect((await decide(await server.ask(asked), { decision: 'rejected' })).body).toMatchObject({
      decision: 'rejected',
      action_value: 'drop',
    });
  });

  it('ask for changes and take that back', async () => {
    const id = await server.ask();
    const retried = await server.call('retryReview', server.ann, id, { body: { feedback: 'Shorter.', prompt_edit: 'Be brief.' } });
    expect(retried.headers).toMatchObject(successor(id));
    expect(retried.body).toMatchObject({ status: 'awaiting_iteration', feedback: 'Shorter.', prompt_edit: 'Be brief.' });
    const taken = await server.call('cancelReviewRequest', server.ann, id);
    expect([taken.status, taken.headers.deprecation, taken.body.status]).toEqual([200, 'true', 'pending']);
    expect((await server.call('cancelReviewRequest', server.bob, id)).code).toBe('action.status_not_allowed');
    expect((await server.call('retryReview', server.ann, id, { body: {} })).code).toBe('validation_failed');
  });

  it('refuse what belongs to features to come, and decisions that nobody makes', async () => {
    const id = await server.ask();
    for (const decision of ['vetoed', 'confirmed']) expect((await decide(id, { decision })).code).toBe('feature_not_available');
    for (const decision of ['retried', 'expired', 'max_iterations_reached', 'x'])
      expect((await decide(id, { decision })).code).toBe('validation_failed');
  });
});
