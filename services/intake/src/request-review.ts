/**
 * `POST /reviews`, in the protocol's order: the key's idempotency first, then what has to be looked up, then the decider.
 *
 * Q1. An idempotency key is looked up before anything else is judged, and once more by the append: of fifty requests at once, one is appended
 *     and the others are answered with its review.
 * Q2. Nothing of a request is looked up for a key that may not ask at all.
 * Q3. A review its caller does not see takes no idempotency key from them: where one has taken the project's, the request is made, and found
 *     again, under the same key of its template (decision 9). So nobody learns which keys others use.
 */
import type { AgentActor, ErrorCode, ReviewCreate, ReviewEvent } from '@countersign/contracts';
import { handle, newId } from '@countersign/event-store';
import { type CallerIdentity, findPerson, isRoleRef } from '@countersign/http';
import {
  type HandledReview,
  idempotencyScope,
  judgeRepeatedRequest,
  loadReview,
  may,
  measureSettled,
  type RequestReview,
  type ReviewState,
  refuse,
  request,
  requestInputHash,
  reviewFold,
  reviewMeta,
} from '@countersign/review';
import type { IntakeDeps } from './deps.js';
import { findTemplate } from './templates/templates.js';

/** `bucket`: of `position`, where the answer is that of an earlier request. */
export type AnsweredRequest = HandledReview & { bucket?: number };

const refused = (refusal: HandledReview['refusal']): HandledReview => ({
  state: { status: 'none' },
  version: 0,
  events: [],
  refusal,
  repeated: false,
  position: 0,
  now: '',
});

/** What is known under an idempotency key is a review the caller does not see. */
const UNSEEN = Symbol('unseen');

/** Where a request's idempotency key is looked for: in the whole project, or among what was asked of its template. */
interface Scope {
  of: 'project' | 'template';
  name: string;
}

export async function requestReview(deps: IntakeDeps, caller: CallerIdentity, body: ReviewCreate): Promise<AnsweredRequest> {
  const permission = may(caller.actor, 'request');
  if (!permission.ok) return refused(permission.refusal);
  const actor = caller.actor as AgentActor;
  const { project_id } = actor;
  const ofProject: Scope = { of: 'project', name: idempotencyScope(project_id) };
  const answer = (await repeated(deps, actor, body, ofProject)) ?? (await asked(deps, caller, body, ofProject));
  if (answer !== UNSEEN) return answer;

  const template = await findTemplate(deps.store, project_id, body.template);
  const sees = template && may(actor, 'request', { project_id, template_id: template.id, ref: body.template }).ok;
  const ofTemplate: Scope = sees ? { of: 'template', name: idempotencyScope(project_id, template.id) } : ofProject;
  // Of a template the caller does not see nothing is known either: it is refused as if nobody had used the key.
  const again = (sees && (await repeated(deps, actor, body, ofTemplate))) || (await asked(deps, caller, body, ofTemplate));
  if (again === UNSEEN) throw new Error('A request was answered with a review of a template its caller sees, and does not see it.');
  return again;
}

/** The request as nobody has sent it yet; should somebody do so meanwhile, the append says so. */
async function asked(deps: IntakeDeps, caller: CallerIdentity, body: ReviewCreate, scope: Scope): Promise<AnsweredRequest | typeof UNSEEN> {
  const actor = caller.actor as AgentActor;
  const { idempotency_key: key } = body;
  const found = await lookUp(deps, caller, body);
  if ('code' in found) return refused(found);
  const review_id = newId('rev');
  const handled = await handle<ReviewState, ReviewEvent, ErrorCode>(deps.store, {
    stream: review_id,
    project: actor.project_id,
    fold: reviewFold,
    fresh: true,
    decide: (state, now) => request({ review_id, actor, ...found }, state, now),
    meta: reviewMeta(caller),
    idempotency: key === undefined ? undefined : { scope: scope.name, key, inputHash: requestInputHash(body) },
    onKeyReused: () => refuse('idempotency_key_reused', 'The idempotency key was already used for a different request.'),
  });
  if (handled.repeated || handled.refusal?.code === 'idempotency_key_reused') {
    const first = await repeated(deps, actor, body, scope);
    if (first) return first;
  }
  measureSettled(handled);
  return handled;
}

/**
 * The review an earlier request with the same key made, or why this is not that request again (decision 9); null where nobody has used it. Of
 * one that was erased nobody knows the template.
 */
async function repeated(
  deps: IntakeDeps,
  actor: AgentActor,
  body: ReviewCreate,
  scope: Scope,
): Promise<AnsweredRequest | typeof UNSEEN | null> {
  const { idempotency_key: key } = body;
  const known = key === undefined ? null : await deps.store.idempotencyKey(scope.name, key);
  if (!known) return null;
  const { state, now, version, events } = await loadReview(deps.store, known.stream);
  if (state.status === 'none') {
    if (actor.template_ids !== null && scope.of === 'project') return UNSEEN;
    const message = 'The idempotency key belongs to a review that was erased.';
    return refused({ code: 'idempotency_key_terminal_conflict', message, extra: { review_id: known.stream } });
  }
  if (!may(actor, 'request', state).ok) return UNSEEN;
  const refusal = judgeRepeatedRequest(state, now, known.inputHash === requestInputHash(body)) ?? undefined;
  // Whoever asks again may never have had the first answer: their next list has the review all the same (K14).
  const { position = 0, bucket } = events.at(-1) ?? {};
  return { state, version, events: [], refusal, repeated: refusal === undefined, position, bucket, now };
}

type Found = Pick<RequestReview, 'template' | 'body' | 'assignee_id' | 'on_behalf_of'>;
type Refused = NonNullable<HandledReview['refusal']>;
type FindPerson = (ref: string) => ReturnType<typeof findPerson>;

/** What the decider cannot know: whether the callback may be called, which template and which people are meant. */
async function lookUp(deps: IntakeDeps, caller: CallerIdentity, body: ReviewCreate): Promise<Found | Refused> {
  const { project_id, default_reviewer } = caller.actor as AgentActor;
  const person: FindPerson = (ref) => findPerson(deps.client, { project_id, ref, request_id: caller.request_id });
  const { callback_url, on_behalf_of } = body;
  if (callback_url !== undefined) {
    const unusable = await deps.egress.checkCallbackUrl(callback_url);
    if (unusable) return unusable;
  }
  const template = await findTemplate(deps.store, project_id, body.template);
  const assigned = await assigneeOf(person, body.assignee, default_reviewer);
  if ('code' in assigned) return assigned;
  const principal = on_behalf_of === undefined ? null : await person(on_behalf_of);
  if (on_behalf_of !== undefined && !principal) {
    return refuse('invalid_on_behalf_of', 'No member of this project has this e-mail address or id.', { param: 'on_behalf_of' });
  }
  return {
    template,
    body: { ...body, assignee: assigned.assignee },
    assignee_id: assigned.assignee_id,
    on_behalf_of: principal && { person_id: principal.person_id, email: principal.email },
  };
}

/** Who is asked: the person or role the request names, else the key's default reviewer for as long as they are in the project. */
async function assigneeOf(
  person: FindPerson,
  asked: string | undefined,
  defaultReviewer: string | null,
): Promise<{ assignee?: string; assignee_id: string | null } | Refused> {
  if (asked !== undefined && isRoleRef(asked)) return { assignee: asked, assignee_id: null };
  const ref = asked ?? defaultReviewer;
  const found = ref === null ? null : await person(ref);
  if (found) return { assignee: found.email, assignee_id: found.person_id };
  if (asked === undefined) return { assignee_id: null };
  return refuse('invalid_assignee', 'No member of this project has this e-mail address or id.', { param: 'assignee' });
}
