/**
 * The catalogue of error codes (HRP §0, §13). Codes are stable: callers switch on them. One entry per code, and no
 * other place names a status for one.
 */
export const ERROR_TYPES = [
  'invalid_request',
  'authentication_error',
  'forbidden',
  'not_found',
  'conflict',
  'gone',
  'payload_too_large',
  'rate_limit',
  'internal_error',
  'service_unavailable',
] as const;
export type ErrorType = (typeof ERROR_TYPES)[number];

export interface ErrorEntry {
  status: number;
  type: ErrorType;
  /** What it means, in one sentence for the caller. */
  title: string;
}

const bad = (title: string): ErrorEntry => ({ status: 400, type: 'invalid_request', title });
const unauthenticated = (title: string): ErrorEntry => ({ status: 401, type: 'authentication_error', title });
const forbidden = (title: string): ErrorEntry => ({ status: 403, type: 'forbidden', title });
const missing = (title: string): ErrorEntry => ({ status: 404, type: 'not_found', title });
const conflict = (title: string): ErrorEntry => ({ status: 409, type: 'conflict', title });
const gone = (title: string): ErrorEntry => ({ status: 410, type: 'gone', title });
const slowDown = (title: string): ErrorEntry => ({ status: 429, type: 'rate_limit', title });

export const ERRORS = {
  // The request as bytes
  invalid_json: bad('The body must be a single valid JSON document.'),
  json_too_deep: bad('The body is nested more than 64 levels deep.'),
  json_duplicate_key: bad('An object in the body contains a duplicate key.'),
  json_unsafe_number: bad('A number in the body cannot be represented exactly as a double.'),
  json_invalid_string: bad('A string in the body contains NUL or an unpaired surrogate.'),
  json_forbidden_key: bad('The body contains a forbidden key, such as __proto__.'),
  invalid_request: bad('The request is not valid for this route.'),
  validation_failed: bad('One or more fields are missing, have the wrong type or are out of range; see details.'),
  feature_not_available: bad('The field named in param belongs to a feature this server does not support yet.'),
  invalid_cursor: bad('The cursor is not valid for this list, or was combined with an offset.'),
  request_timeout: { status: 408, type: 'invalid_request', title: 'The request body was not received in time.' },
  uri_too_long: { status: 414, type: 'invalid_request', title: 'The URL is too long.' },
  unsupported_media_type: { status: 415, type: 'invalid_request', title: 'The body must be sent as application/json in UTF-8.' },
  headers_too_large: { status: 431, type: 'invalid_request', title: 'The request headers are too large.' },
  payload_too_large: { status: 413, type: 'payload_too_large', title: 'The body is larger than the limit (1 MB unless configured).' },
  route_not_found: missing('No such route.'),
  method_not_allowed: { status: 405, type: 'invalid_request', title: 'The method is not allowed on this route; see the Allow header.' },
  rate_limit_exceeded: slowDown('The API key has reached its hourly request limit; retry after the time in Retry-After.'),
  internal_error: { status: 500, type: 'internal_error', title: 'Internal error. Details were logged under the request id.' },
  service_unavailable: { status: 503, type: 'service_unavailable', title: 'A required service is temporarily unavailable. Try again.' },

  // Who calls
  missing_credentials: unauthenticated('No credentials were sent.'),
  missing_api_key: unauthenticated('This route requires an API key.'),
  missing_token: unauthenticated('This route requires a session.'),
  invalid_api_key_format: unauthenticated('This route requires an API key; keys begin with gwk_.'),
  invalid_api_key: unauthenticated('The API key is invalid or disabled.'),
  key_expired: unauthenticated('The API key has expired.'),
  ip_not_allowed: unauthenticated('The API key may not be used from this address.'),
  invalid_token: unauthenticated('The session is invalid, expired or revoked.'),
  invalid_credentials: unauthenticated('Incorrect e-mail address or password.'),
  invalid_sign_in_link: unauthenticated('The sign-in link is invalid, already used or expired.'),
  missing_ticket: unauthenticated('The stream requires a ticket or a bearer token.'),
  invalid_ticket: unauthenticated('The ticket is invalid, already used or expired.'),
  account_locked: slowDown('Too many failed sign-ins from this address; retry after the time in Retry-After.'),
  too_many_attempts: slowDown('Too many wrong passwords; retry after the time in Retry-After.'),
  too_many_connections: slowDown('This credential has reached its limit of open streams.'),
  forbidden: forbidden('The credential lacks the required scope, role or project.'),
  csrf_failed: forbidden('Requests authenticated by cookie must come from the inbox.'),
  human_actor_required: forbidden('Only a signed-in person may do this; API keys cannot.'),
  invalid_return_to: bad('return_to must be a path on this server.'),

  // People, keys, project
  wrong_password: bad('The current password is wrong.'),
  too_short: bad('A password must have at least 12 characters.'),
  too_long: bad('A password must have at most 128 characters.'),
  breached: bad('The password is too common.'),
  invite_invalid: missing('No such invitation.'),
  invite_used: gone('The invitation was already accepted.'),
  invite_expired: gone('The invitation has expired.'),
  email_taken: conflict('An account with this e-mail address already exists.'),
  duplicate_email: conflict('This person is already a member of the project, or already invited.'),
  session_not_found: missing('You have no such session.'),
  api_key_not_found: missing('No such API key in this project.'),
  api_key_inactive: conflict('The API key is disabled.'),
  invalid_ip_allowlist: bad('An entry is not an IP address or CIDR range.'),
  invalid_template_id: bad('A listed template does not exist in this project.'),
  invalid_expiry: bad('expires_at must be in the future: the key would be expired from the start.'),
  invalid_person: bad('No such person in this project.'),
  member_not_found: missing('No such person in this project.'),
  person_not_found: missing('No such person.'),
  project_not_found: missing('No such project, or you are not a member of it.'),
  cannot_edit_self: forbidden('You cannot change your own role or remove yourself.'),
  last_admin: forbidden('A project must have at least one admin.'),
  rotation_pending: conflict('A new secret is already waiting to be promoted.'),
  no_pending_secret: conflict('There is no new secret to promote.'),

  // Templates
  template_not_found: missing('No such template in this project.'),
  invalid_fields: bad('The field definitions conflict: a duplicate name, or a select without options.'),
  invalid_slug: bad('A slug may contain only lowercase letters, digits and single hyphens.'),
  slug_already_exists: bad('Another template in this project already uses this slug.'),
  slug_immutable_after_publish: bad('The slug of a published template cannot be changed.'),
  invalid_actions: bad('The actions are not valid.'),
  'template.no_terminal_action': bad('A template needs at least one action that approves or rejects.'),
  'template.missing_decision_value': bad('A deciding action must set its value to approved or rejected.'),
  'template.unexpected_decision_value': bad('Only a deciding action may set a value of approved or rejected.'),
  'template.unexpected_webhook_event': bad('A deciding action cannot rename its webhook event.'),
  'template.duplicate_action_id': bad('Two actions have the same id.'),
  'template.duplicate_decision_value': bad('At most one action may approve, and one reject.'),
  no_draft: bad('The template has no draft.'),
  invalid_template_state: bad('The current state of the template does not allow this.'),
  template_has_inflight_reviews: bad('This template still has open reviews.'),

  // Asking
  template_draft: bad('The template has never been published.'),
  template_inactive: bad('The template is paused.'),
  template_not_allowed: forbidden('The API key may not use this template.'),
  payload_invalid: bad('A declared field of the payload is missing or of the wrong type; param holds its path.'),
  invalid_callback_url: bad('The callback URL must be a public http or https URL.'),
  invalid_trace_url: bad('The trace URL must use https.'),
  invalid_timeout: bad('A timeout needs both seconds and action.'),
  timeout_action_not_allowed: forbidden('The template does not allow requests to set automatic approval on timeout.'),
  invalid_on_behalf_of: bad('on_behalf_of is not a member of this project.'),
  idempotency_key_mismatch: bad('The Idempotency-Key header and idempotency_key in the body differ.'),
  idempotency_key_reused: conflict('The idempotency key was already used for a different request; see error.review_id.'),
  idempotency_key_terminal_conflict: conflict('The idempotency key belongs to a review that is already closed; see error.review.'),

  // Deciding
  review_not_found: missing('No such review in this project.'),
  review_already_decided: conflict('The review is already decided; see error.review for the outcome.'),
  review_expired: conflict('The review has expired.'),
  review_awaiting_changes: conflict('The review is waiting for the agent to revise its request.'),
  not_awaiting_changes: conflict('No changes were requested.'),
  not_pending: conflict('The review is no longer open.'),
  version_mismatch: conflict('The review has moved to another version; see error.review for the current one.'),
  payload_digest_mismatch: conflict('The payload has changed since the person saw it.'),
  version_required: bad('A decision on an irreversible review must include the version and payload_digest the person saw.'),
  'action.unknown_action': bad('The template has no such action.'),
  'action.status_not_allowed': conflict('The action is not available in this status.'),
  'action.feedback_required': bad('The action requires feedback.'),
  field_not_editable: bad('An edited field is not editable.'),
  request_changes_not_allowed: bad('The template does not allow change requests.'),
  requester_cannot_approve: forbidden(
    'The requester, whoever answers for the requesting API key, and whoever made or rotated it may not approve this review.',
  ),
  review_already_held: conflict('Another person has claimed the review.'),
  review_hold_changed: conflict('Someone else claimed or released the review in the meantime.'),
  not_holder: forbidden('Only the person who claimed the review, or an admin, may release it.'),
  invalid_assignee: bad('The assignee is not a member of this project.'),
  review_not_settled: conflict('Only a decided or expired review can be archived.'),
  review_not_archived: conflict('The review is not archived.'),

  // What was approved is what runs
  not_approved: conflict('The review is not approved.'),
  digest_mismatch: conflict('The value differs from the approved one; error.paths lists the differences.'),
  already_redeemed: conflict('The approval was already redeemed; see error.redemption.'),
  approval_expired: conflict('The approval has expired.'),
  redemption_not_found: missing('This review has no such redemption.'),
  too_many_executions: conflict('The review has reached its limit of execution reports.'),

  // Deliveries and reading
  delivery_not_found: missing('No such delivery in this project.'),
  already_delivered: bad('Already delivered.'),
  delivery_erased: gone('The review was erased; its delivery can no longer be sent.'),
  delivery_claimed: conflict('The delivery is being attempted now.'),
  range_too_large: bad('The range is too large for one request.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Where a code is explained: a page the server serves itself, relative to its own address. */
export function docUrl(code: ErrorCode): string {
  return `/docs/errors#${code}`;
}
