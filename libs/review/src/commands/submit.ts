/** What agents do to a review before it is settled: ask, ask again, change their mind. What they do after an approval is in redeem.ts. */
import {
  type Actor,
  type AgentActor,
  agentRef,
  type ReviewCreate,
  type ReviewEvent,
  type ReviewRequested,
  type TemplateConfig,
} from '@countersign/contracts';
import { digest } from '@countersign/evidence';
import { conflict, isSettled, noTemplate, type ReviewRefusal, refuse, settledRefusal } from '../refusals.js';
import { isOpen } from '../review.js';
import { actionsOf } from '../rules/actions.js';
import { reminderSeconds } from '../rules/deadline.js';
import { alreadySo, judge, type Ruling, refused } from '../rules/judge.js';
import { checkPayload } from '../rules/payload.js';
import { may } from '../rules/policy.js';
import type { RequestedReview, ReviewState } from '../state.js';
import { decidedBySystem, type Judged, settle } from './elapse.js';

/** The template a request names, as its newest published version stands. */
export interface RequestedTemplate {
  id: string;
  project_id: string;
  slug: string;
  status: 'draft' | 'active' | 'inactive';
  /** Null before the first publication. */
  published: { version: number; config: TemplateConfig } | null;
}

export interface RequestReview {
  review_id: string;
  actor: Actor;
  /** Null: the project has no such template. */
  template: RequestedTemplate | null;
  body: ReviewCreate;
  /** The person `body.assignee` is, found by the caller; null for a role and for nobody. */
  assignee_id?: string | null;
  /** The person `on_behalf_of` names, found by the caller. */
  on_behalf_of: { person_id: string; email: string } | null;
}

/**
 * Same key and same of this: the same request (decision 9). What a person would judge, who may not, and how often it may come back, and
 * nothing beside it.
 */
export function requestInputHash(body: ReviewCreate): string {
  const { template, payload, actions = [], oversight = 'blocking', timeout = null, irreversibility, on_behalf_of, max_iterations } = body;
  const beside = Object.entries({ irreversibility, on_behalf_of, max_iterations }).filter(([, value]) => value !== undefined);
  return digest({ template, payload, actions, oversight, timeout, ...Object.fromEntries(beside) });
}

/** Who answers for a key, and who did: nobody steps out of it by giving the key away before it asks (decision 30). */
function ownersOf({ owner, former_owners = [] }: AgentActor): Pick<ReviewRequested['requester'], 'owner' | 'former_owners'> {
  return { owner, ...(former_owners.length > 0 && { former_owners }) };
}

/**
 * Where idempotency keys of a project's requests are unique; with a template, where those of its requests are that found their key taken by a
 * review their caller does not see (decision 9).
 */
export const idempotencyScope = (projectId: string, templateId?: string): string =>
  ['review', projectId, ...(templateId === undefined ? [] : [templateId])].join(':');

/**
 * What a request is told whose idempotency key is known (decision 9); null: it is the first request again, answer with its review.
 * @param sameInput whether `requestInputHash` is that of the first.
 */
export function judgeRepeatedRequest(state: RequestedReview, now: string, sameInput: boolean): ReviewRefusal | null {
  const review = settle(state, now).state as RequestedReview;
  const extra = { review_id: review.id, status: review.status };
  if (isSettled(review)) {
    return conflict('idempotency_key_terminal_conflict', 'The idempotency key belongs to a review that is already closed.', review, extra);
  }
  return sameInput
    ? null
    : conflict('idempotency_key_reused', 'The idempotency key was already used for a different request.', review, extra);
}

/**
 * The timeout a request gets. Time may approve only where a person published a template that says so (decision 19): a request may wait
 * longer than the template before it is approved by the clock, never less.
 */
function timeoutOf(body: ReviewCreate, config: TemplateConfig): ReviewRequested['timeout'] | ReviewRefusal {
  const { timeout_seconds, timeout_action } = config;
  const own = timeout_seconds === null || timeout_action === null ? null : { seconds: timeout_seconds, action: timeout_action };
  if (!body.timeout) return own;
  const inherited = own?.action === 'auto_approve' && body.timeout.seconds >= own.seconds;
  if (body.timeout.action === 'auto_approve' && !config.allow_timeout_auto_approve && !inherited) {
    return refuse('timeout_action_not_allowed', 'The template does not allow requests to set automatic approval on timeout.', {
      param: 'timeout.action',
    });
  }
  return { ...body.timeout };
}

const ALIASES: Record<string, 'approved' | 'rejected'> = { approve: 'approved', reject: 'rejected' };

/** The template's actions, less those the agent does not offer. A rejection is always offered: no agent takes the no away. */
function offeredOf(config: TemplateConfig, wanted: readonly string[] = []): TemplateConfig['actions'] | ReviewRefusal {
  if (wanted.length === 0) return config.actions;
  const known = actionsOf(config);
  const named = wanted.map(
    (id) =>
      known.find((action) => action.id === id) ??
      config.actions.find((action) => Object.hasOwn(ALIASES, id) && action.decision_value === ALIASES[id]) ??
      id,
  );
  const unknown = named.find((action) => typeof action === 'string');
  if (unknown !== undefined) return refuse('action.unknown_action', `The template has no action ${unknown}.`, { param: 'actions' });
  return config.actions.filter((action) => action.decision_value === 'rejected' || named.includes(action));
}

function templateRefusal(actor: Actor, template: RequestedTemplate | null, asked: string): ReviewRefusal | null {
  if (template === null) return noTemplate(asked);
  const permission = may(actor, 'request', { project_id: template.project_id, template_id: template.id, ref: asked });
  if (!permission.ok) return permission.refusal;
  if (template.published === null) return refuse('template_draft', 'The template has never been published.', { param: 'template' });
  if (template.status === 'inactive') return refuse('template_inactive', 'The template is paused.', { param: 'template' });
  return null;
}

const isRefusal = (value: object | null): value is ReviewRefusal => value !== null && 'code' in value;

/** `POST /reviews`. The review's stream begins here; a request whose stream exists is the same request again. */
export function request(command: RequestReview, state: ReviewState, _now: string): Judged {
  const { actor, body, template, review_id: stream } = command;
  const permission = may(actor, 'request');
  if (!permission.ok) return { events: [], refusal: permission.refusal };
  if (state.status !== 'none') return { events: [] };

  const unusable = traceRefusal(body.trace_url) ?? templateRefusal(actor, template, body.template);
  if (unusable) return { events: [], refusal: unusable };
  const { published, id, slug } = template as RequestedTemplate & { published: NonNullable<RequestedTemplate['published']> };
  const { config, version } = published;
  const timeout = timeoutOf(body, config);
  if (isRefusal(timeout)) return { events: [], refusal: timeout };
  const actions = offeredOf(config, body.actions);
  if (!Array.isArray(actions)) return { events: [], refusal: actions };
  const invalid = checkPayload(config.fields, body.payload, 'payload');
  if (invalid) return { events: [], refusal: invalid };

  const { key_id, key_prefix, name } = actor as AgentActor;
  const requested: ReviewRequested = {
    template: {
      id,
      slug,
      version,
      name: config.name,
      instructions: config.instructions,
      auto_approve: config.auto_approve,
      allow_request_changes: config.allow_request_changes,
      allow_notes: config.allow_notes,
    },
    fields: config.fields,
    actions,
    payload: body.payload,
    payload_digest: digest(body.payload),
    priority: body.priority ?? config.default_priority,
    confidence: body.confidence ?? null,
    irreversibility: body.irreversibility ?? null,
    oversight: 'blocking',
    assignee: body.assignee ?? null,
    assignee_id: command.assignee_id ?? null,
    metadata: body.metadata ?? null,
    callback_url: body.callback_url ?? null,
    trace_url: body.trace_url ?? null,
    timeout,
    changes_timeout_seconds: config.changes_timeout_hours === null ? null : config.changes_timeout_hours * 3600,
    approval_valid_seconds: config.approval_valid_seconds,
    max_iterations: body.max_iterations ?? config.max_iterations,
    idempotency_key: body.idempotency_key ?? null,
    requester: { key_id, key_prefix, name, ...ownersOf(actor as AgentActor) },
    on_behalf_of: command.on_behalf_of,
  };
  const events: ReviewEvent[] = [{ type: 'review.requested', body: requested }];
  if (config.auto_approve) {
    const { payload, payload_digest } = requested;
    const review = { current_version: 1, payload, payload_digest, held_by: null };
    const decided_by = { kind: 'system' as const, id: 'system/auto-approve' as const };
    return { events: [...events, decidedBySystem(review, { decision: 'approved', trigger: 'auto_approve', decided_by })] };
  }
  if (timeout === null) return { events };
  const schedule = [
    { stream, kind: 'timeout', due: { inSeconds: timeout.seconds } },
    { stream, kind: 'reminder', due: { inSeconds: reminderSeconds(timeout.seconds) } },
  ];
  return { events, schedule };
}

function traceRefusal(traceUrl: string | undefined): ReviewRefusal | null {
  if (traceUrl === undefined || URL.parse(traceUrl)?.protocol === 'https:') return null;
  return refuse('invalid_trace_url', 'trace_url must be an https address.', { param: 'trace_url' });
}

export interface ResubmitReview {
  actor: Actor;
  payload: Record<string, unknown>;
  /** The next version (decision 5). */
  version: number;
}

/** `PUT /reviews/:id`: the agent's answer to a request for changes. The same body as the version that is current is the same answer again. */
export function resubmit(command: ResubmitReview, state: ReviewState, now: string): Judged {
  const late = () => ({ attempt: 'resubmit' as const, action_id: null });
  return judge(state, now, { actor: command.actor, name: 'resubmit', late }, (review): Ruling => {
    const { payload, version } = command;
    const unreadable = checkPayload([], payload, 'payload');
    if (unreadable) return refused(unreadable);
    const payload_digest = digest(payload);
    if (version > 1 && version === review.current_version && payload_digest === review.payload_digest) return alreadySo;
    if (!isOpen(review)) return refused(settledRefusal(review));
    const next = review.current_version + 1;
    if (version !== next) {
      const message = `The next version is ${next}, not ${version}.`;
      return refused(conflict('version_mismatch', message, review));
    }
    if (review.status === 'pending') return refused(conflict('not_awaiting_changes', 'No changes were requested.', review));
    const invalid = checkPayload(review.fields, payload, 'payload');
    if (invalid) return refused(invalid);
    const actor = command.actor as AgentActor;
    const body = { version, payload, payload_digest, by: agentRef(actor), ...ownersOf(actor) };
    return { events: [{ type: 'review.resubmitted', body }] };
  });
}

export interface WithdrawReview {
  actor: Actor;
  reason?: string;
}

/** `POST /reviews/:id/withdraw`: the agent no longer wants an answer (decision 28). */
export function withdraw(command: WithdrawReview, state: ReviewState, now: string): Judged {
  return judge(state, now, { actor: command.actor, name: 'withdraw' }, (review): Ruling => {
    if (isSettled(review)) {
      const withdrawn = review.outcome.kind === 'expired' && review.outcome.withdrawal !== null;
      return withdrawn ? alreadySo : refused(settledRefusal(review));
    }
    const body = { reason: command.reason ?? null, by: agentRef(command.actor as AgentActor) };
    return { events: [{ type: 'review.withdrawn', body }] };
  });
}
