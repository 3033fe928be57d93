/**
 * The catalogue of error codes (HRP digest §0, §13; decisions). Codes are stable: callers switch on them. One entry per code, and no
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
  /** What it means, in a sentence for the person who meets it. */
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
  invalid_json: bad('The body is not one JSON document.'),
  json_too_deep: bad('The body nests deeper than 64 levels.'),
  json_duplicate_key: bad('An object of the body has the same key twice.'),
  json_unsafe_number: bad('A number of the body would change its value in a double.'),
  json_invalid_string: bad('A string of the body holds NUL or half a surrogate pair.'),
  json_forbidden_key: bad('The body has a key that no object may have, such as __proto__.'),
  invalid_request: bad('The request is not well-formed HTTP for this route.'),
  validation_failed: bad('A member is missing, of the wrong type or out of bounds; details lists each.'),
  feature_not_available: bad(
    'The field named in param belongs to a feature this server does not serve yet; it is refused rather than ignored.',
  ),
  invalid_cursor: bad('The cursor was not made by this list, or came together with an offset.'),
  request_timeout: { status: 408, type: 'invalid_request', title: 'The body did not arrive in time.' },
  uri_too_long: { status: 414, type: 'invalid_request', title: 'The address is longer than the server reads.' },
  unsupported_media_type: { status: 415, type: 'invalid_request', title: 'The body must be sent as application/json in UTF-8.' },
  headers_too_large: { status: 431, type: 'invalid_request', title: 'The headers are larger than the server reads.' },
  payload_too_large: { status: 413, type: 'payload_too_large', title: 'The body is larger than the limit (1 MB unless configured).' },
  route_not_found: missing('No such route.'),
  method_not_allowed: { status: 405, type: 'invalid_request', title: 'The route does not answer this method; Allow lists those it does.' },
  rate_limit_exceeded: slowDown('The key has used its requests for this hour; Retry-After says when to come back.'),
  internal_error: { status: 500, type: 'internal_error', title: 'A fault of the server. It was logged under the request id.' },
  service_unavailable: { status: 503, type: 'service_unavailable', title: 'A part the request needs is not reachable; try again.' },

  // Who calls
  missing_credentials: unauthenticated('No credentials were sent.'),
  missing_api_key: unauthenticated('This route needs an API key.'),
  missing_token: unauthenticated('This route needs a session.'),
  invalid_api_key_format: unauthenticated('This route needs an API key, which begins gwk_.'),
  invalid_api_key: unauthenticated('The API key is unknown or disabled.'),
  key_expired: unauthenticated('The API key has expired.'),
  ip_not_allowed: unauthenticated('The API key may not be used from this address.'),
  invalid_token: unauthenticated('The session is unknown, expired or revoked.'),
  invalid_credentials: unauthenticated('The e-mail address and password do not match.'),
  invalid_sign_in_link: unauthenticated('The sign-in link is unknown, used or expired.'),
  missing_ticket: unauthenticated('The stream needs a ticket or a bearer token.'),
  invalid_ticket: unauthenticated('The ticket is unknown, used or expired.'),
  account_locked: slowDown('Too many failed sign-ins from here; Retry-After says when to come back.'),
  too_many_attempts: slowDown('Too many wrong passwords; Retry-After says when to come back.'),
  too_many_connections: slowDown('This credential already holds as many streams as it may.'),
  forbidden: forbidden('The credential lacks the scope, role or project this needs.'),
  csrf_failed: forbidden('A request that rides on a cookie must come from the inbox itself.'),
  human_actor_required: forbidden('Only a person with a session may do this; no API key can.'),
  invalid_return_to: bad('return_to must be a path of this server.'),

  // People, keys, project
  wrong_password: bad('The current password is wrong.'),
  too_short: bad('A password has at least 12 characters.'),
  too_long: bad('A password has at most 128 characters.'),
  breached: bad('The password is a common one that guessers try first.'),
  invite_invalid: missing('No such invitation.'),
  invite_used: gone('The invitation was already accepted.'),
  invite_expired: gone('The invitation has expired.'),
  email_taken: conflict('A person with this e-mail address already exists.'),
  duplicate_email: conflict('This person already is in the project, or is invited.'),
  session_not_found: missing('No such session of yours.'),
  api_key_not_found: missing('No such API key in this project.'),
  api_key_inactive: conflict('The API key is disabled.'),
  invalid_ip_allowlist: bad('An entry is neither an IP address nor a CIDR range.'),
  invalid_template_id: bad('A template of the list does not exist in this project.'),
  invalid_person: bad('No such person in this project.'),
  member_not_found: missing('No such person in this project.'),
  person_not_found: missing('No such person.'),
  project_not_found: missing('No such project, or not one of yours.'),
  cannot_edit_self: forbidden('Nobody changes their own role or removes themselves.'),
  last_admin: forbidden('A project keeps at least one admin.'),
  rotation_pending: conflict('A new secret already waits to be promoted.'),
  no_pending_secret: conflict('No new secret waits to be promoted.'),

  // Templates
  template_not_found: missing('No such template in this project.'),
  invalid_fields: bad('The fields contradict each other: a name twice, or a select without options.'),
  invalid_slug: bad('A slug is lowercase letters, digits and single hyphens.'),
  slug_already_exists: bad('Another template of this project has this slug.'),
  slug_immutable_after_publish: bad('A published template keeps its slug.'),
  invalid_actions: bad('The actions could not be read.'),
  'template.no_terminal_action': bad('A template needs an action that decides.'),
  'template.missing_decision_value': bad('An action that decides must say approved or rejected.'),
  'template.unexpected_decision_value': bad('Only an action that decides may say approved or rejected.'),
  'template.unexpected_webhook_event': bad('An action that decides cannot rename its webhook event.'),
  'template.duplicate_action_id': bad('Two actions have the same id.'),
  'template.duplicate_decision_value': bad('At most one action may approve, and one reject.'),
  no_draft: bad('The template has no draft.'),
  invalid_template_state: bad('The template is not in a state that allows this.'),
  template_has_inflight_reviews: bad('Reviews of this template are still open.'),

  // Asking
  template_draft: bad('The template has never been published.'),
  template_inactive: bad('The template is paused.'),
  template_not_allowed: forbidden('The API key may not use this template.'),
  payload_invalid: bad('A declared field of the payload is missing or of the wrong type; param holds its path.'),
  invalid_callback_url: bad('The callback address is not a public http or https address.'),
  invalid_trace_url: bad('The trace address must be https.'),
  invalid_timeout: bad('A timeout needs both its seconds and its action.'),
  timeout_action_not_allowed: forbidden('The template does not let requests ask for an approval by the clock.'),
  invalid_on_behalf_of: bad('on_behalf_of names nobody in this project.'),
  idempotency_key_mismatch: bad('The Idempotency-Key header and idempotency_key of the body differ.'),
  idempotency_key_reused: conflict('The key was used for another request; error.review_id names its review.'),
  idempotency_key_terminal_conflict: conflict('The key belongs to a review that is settled; error.review holds the outcome.'),

  // Deciding
  review_not_found: missing('No such review in this project.'),
  review_already_decided: conflict('The review is decided; error.review holds the outcome.'),
  review_expired: conflict('The review has expired.'),
  review_awaiting_changes: conflict('The review waits for the agent to change its request.'),
  not_awaiting_changes: conflict('Nobody asked for changes.'),
  not_pending: conflict('The review is no longer open.'),
  version_mismatch: conflict('The review moved to another version; error.review holds the current one.'),
  payload_digest_mismatch: conflict('What the person saw is not what the review holds now.'),
  version_required: bad('An irreversible review is decided with the version and payload_digest the person saw.'),
  'action.unknown_action': bad('The template has no such action.'),
  'action.status_not_allowed': conflict('The action is not available in this status.'),
  'action.feedback_required': bad('The action needs feedback.'),
  field_not_editable: bad('A changed key is not editable.'),
  request_changes_not_allowed: bad('The template does not allow asking for changes.'),
  requester_cannot_approve: forbidden('Whoever asked, or answers for the asking key, may not approve it.'),
  review_already_held: conflict('Another person holds the review.'),
  review_hold_changed: conflict('The hold changed hands meanwhile.'),
  not_holder: forbidden('Only the holder or an admin may release the review.'),
  invalid_assignee: bad('The assignee is nobody in this project.'),
  review_not_settled: conflict('Only a decided or expired review can be archived.'),
  review_not_archived: conflict('The review is not archived.'),

  // What was approved is what runs
  not_approved: conflict('The review is not approved.'),
  digest_mismatch: conflict('The value is not the approved one; error.paths names where they differ.'),
  already_redeemed: conflict('The approval was already redeemed; error.redemption says when.'),
  approval_expired: conflict('The approval is older than its template allows.'),
  redemption_not_found: missing('No such redemption of this review.'),
  too_many_executions: conflict('The review already keeps as many execution reports as it may.'),

  // Deliveries and reading
  delivery_not_found: missing('No such delivery in this project.'),
  already_delivered: bad('The delivery has arrived.'),
  delivery_erased: gone('The review was erased, and the bytes of the delivery with it: there is nothing to send again.'),
  delivery_claimed: conflict('The delivery is being attempted right now.'),
  range_too_large: bad('The range is larger than one request may cover.'),
} as const satisfies Record<string, ErrorEntry>;

export type ErrorCode = keyof typeof ERRORS;

export const ERROR_CODES = Object.keys(ERRORS) as ErrorCode[];

export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

/** Where a code is explained: a page the station serves itself, relative to its own address. */
export function docUrl(code: ErrorCode): string {
  return `/docs/errors#${code}`;
}
