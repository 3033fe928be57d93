/**
 * The one answer to "may this actor do this to this review now?". Every path that touches a review asks here.
 *
 * P1. Software never decides: what only a person may do is refused to a key before the review is looked up (decision 7).
 * P2. Another project's review does not exist (decision 15); a person's project is one they hold a role in.
 * P3. A key's limits on templates hold for every command: what is of other templates does not exist for it, in the same words as what nobody has
 *     (decision 15).
 * P4. Somebody else's hold stops a decision, not an admin's claim (issue of the gate, "claim that holds").
 * P5. Whoever answers for what was submitted does not approve it (decision 30). They may say no, or ask for changes.
 */
import { type Actor, type Hold, type PersonActor, ROLE_SCOPES, type Role, type Scope } from '@countersign/contracts';
import { conflict, noTemplate, notFound, type ReviewRefusal, refuse } from '../refusals.js';
import type { ReviewState } from '../state.js';

interface Rule {
  who: 'key' | 'person' | 'either';
  scope: Scope;
  /** Whether somebody else's hold stops it. */
  held?: true;
}

const RULES = {
  request: { who: 'key', scope: 'reviews:create' },
  resubmit: { who: 'key', scope: 'reviews:create' },
  withdraw: { who: 'key', scope: 'reviews:create' },
  redeem: { who: 'key', scope: 'reviews:create' },
  record_execution: { who: 'key', scope: 'reviews:create' },
  read: { who: 'either', scope: 'reviews:read' },
  act: { who: 'person', scope: 'reviews:decide', held: true },
  draft: { who: 'person', scope: 'reviews:decide', held: true },
  claim: { who: 'person', scope: 'reviews:claim', held: true },
  force_claim: { who: 'person', scope: 'reviews:assign' },
  release: { who: 'person', scope: 'reviews:release' },
  assign: { who: 'person', scope: 'reviews:assign' },
  archive: { who: 'either', scope: 'reviews:decide' },
  unarchive: { who: 'either', scope: 'reviews:decide' },
} as const satisfies Record<string, Rule>;

export type ReviewCommandName = keyof typeof RULES;
export const REVIEW_COMMANDS = Object.keys(RULES) as ReviewCommandName[];

/** What a command is about: a review, or the template a review is requested of and the `ref` it was asked for by. */
export type PolicySubject = ReviewState | { project_id: string; template_id: string; ref: string };

export type Permission = { ok: true } | { ok: false; refusal: ReviewRefusal };

const no = (refusal: ReviewRefusal): Permission => ({ ok: false, refusal });
const yes: Permission = { ok: true };

function roleIn(actor: PersonActor, projectId: string): Role | undefined {
  return Object.hasOwn(actor.roles, projectId) ? actor.roles[projectId] : undefined;
}

/** Whether the hold is this person's: by id, or by a role they have in the project. */
export function holds(actor: PersonActor, hold: Hold, projectId: string): boolean {
  return hold.person_id === null ? hold.ref === `role:${roleIn(actor, projectId)}` : hold.person_id === actor.person_id;
}

export function isAdmin(actor: PersonActor, projectId: string): boolean {
  return roleIn(actor, projectId) === 'admin';
}

/** What can be said without looking anything up (P1). */
function mayAtAll(actor: Actor, command: ReviewCommandName): Permission {
  const rule: Rule = RULES[command];
  if (actor.kind === 'anonymous') return no(refuse('missing_credentials', 'Sign in, or send an API key.'));
  if (actor.kind === 'agent' && rule.who === 'person') {
    return no(refuse('human_actor_required', 'Only a signed-in person may do this; API keys cannot.'));
  }
  if (actor.kind === 'person' && rule.who === 'key') return no(refuse('forbidden', 'Only an API key may do this; a session cannot.'));
  if (actor.kind === 'agent' && !actor.scopes.includes(rule.scope)) {
    return no(refuse('forbidden', `The API key lacks the scope ${rule.scope}.`));
  }
  return yes;
}

/**
 * Answers before the look-up when `subject` is left out, and for the review as it stands now (lapses applied) when it is given.
 * @param intent.approves whether the command would approve something (P5).
 */
export function may(actor: Actor, command: ReviewCommandName, subject?: PolicySubject, intent: { approves?: boolean } = {}): Permission {
  const atAll = mayAtAll(actor, command);
  if (!atAll.ok || subject === undefined) return atAll;
  if (!('project_id' in subject)) return no(notFound());
  const templateId = 'ref' in subject ? subject.template_id : subject.template.id;
  if (actor.kind === 'agent') {
    const seen = actor.project_id === subject.project_id && (actor.template_ids === null || actor.template_ids.includes(templateId));
    return seen ? yes : no('ref' in subject ? noTemplate(subject.ref) : notFound());
  }
  return mayPerson(actor as PersonActor, command, subject, intent);
}

function mayPerson(actor: PersonActor, command: ReviewCommandName, subject: PolicySubject, intent: { approves?: boolean }): Permission {
  if (!('status' in subject) || subject.status === 'none') return no(notFound());
  const rule: Rule = RULES[command];
  const role = roleIn(actor, subject.project_id);
  if (role === undefined) return no(notFound());
  if (!ROLE_SCOPES[role].includes(rule.scope)) return no(refuse('forbidden', `The role ${role} lacks ${rule.scope}.`));
  if (rule.held && subject.held_by !== null && !holds(actor, subject.held_by, subject.project_id)) {
    return no(conflict('review_already_held', `${subject.held_by.ref} has claimed the review.`, subject, { held_by: subject.held_by.ref }));
  }
  if (intent.approves && subject.answerable.includes(actor.person_id)) {
    return no(
      refuse(
        'requester_cannot_approve',
        'The requester, whoever answers for the requesting API key, and whoever made or rotated it may not approve this review.',
      ),
    );
  }
  return yes;
}
