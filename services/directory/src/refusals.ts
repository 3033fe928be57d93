import type { Refusal } from '@countersign/event-store';

/** What the directory says no with. Status and type of each stand in the catalogue of contracts (ERRORS); the edge compiles only if all do. */
export type RefusalCode =
  | 'project_not_found'
  | 'slug_already_exists'
  | 'invalid_slug'
  | 'forbidden'
  | 'member_not_found'
  | 'cannot_edit_self'
  | 'last_admin'
  | 'duplicate_email'
  | 'email_taken'
  | 'invite_invalid'
  | 'invite_used'
  | 'invite_expired'
  | 'rotation_pending'
  | 'no_pending_secret'
  | 'validation_failed'
  | 'invalid_person'
  | 'invalid_expiry'
  | 'invalid_ip_allowlist'
  | 'invalid_template_id'
  | 'api_key_not_found'
  | 'api_key_inactive'
  | 'invalid_credentials'
  | 'account_locked'
  | 'too_many_attempts'
  | 'service_unavailable'
  | 'wrong_password'
  | 'too_short'
  | 'too_long'
  | 'breached'
  | 'invalid_sign_in_link'
  | 'session_not_found'
  | 'person_not_found';

export interface DirectoryRefusal extends Refusal<RefusalCode> {
  /** For `Retry-After`. */
  retryAfterSeconds?: number;
}

/** A command's answer where nothing is appended: the value, or why not. */
export type Outcome<T> = { ok: true; value: T } | { ok: false; refusal: DirectoryRefusal };

export const done = <T>(value: T): Outcome<T> => ({ ok: true, value });

export function refuse(code: RefusalCode, message: string, rest: Omit<DirectoryRefusal, 'code' | 'message'> = {}): DirectoryRefusal {
  return { code, message, ...rest };
}

export const refused = (refusal: DirectoryRefusal): { ok: false; refusal: DirectoryRefusal } => ({ ok: false, refusal });
