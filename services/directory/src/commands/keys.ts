import { type KeyChanged, KeyCreated } from '@countersign/contracts';
import { type EventMeta, isId, newId, uuidOf } from '@countersign/event-store';
import { keyCredential, writeKeyCredential } from '../credentials/rows.js';
import { newRawKey } from '../credentials/tokens.js';
import type { DirectoryDeps } from '../deps.js';
import { changeKey, createKey, deleteKey, rotateKey } from '../key/decider.js';
import { type ApiKey, isLive, type KeyEvent, type KeySettings, keyFold, type LiveKey } from '../key/key.js';
import { findMember } from '../lookups/people.js';
import { type DirectoryRefusal, done, type Outcome, refuse, refused } from '../refusals.js';
import { bodyRefusal } from './body.js';
import type { Written } from './projects.js';
import { utcOf } from './utc.js';
import { onKey } from './write.js';

/** API keys. A raw key leaves this module once, as the answer of `createApiKey` and `rotateApiKey`. */
export interface KeyInput {
  name: string;
  scopes: KeySettings['scopes'];
  description?: string | null;
  template_ids?: string[] | null;
  /** Persons by id or e-mail address; they must be in the project. */
  owner?: string | null;
  contact?: string | null;
  default_reviewer?: string | null;
  rate_limit_per_hour?: number | null;
  ip_allowlist?: string[] | null;
  /** RFC 3339. */
  expires_at?: string | null;
}

export interface KeyMade {
  id: string;
  key: LiveKey;
  rawKey: string;
}

const PEOPLE = ['owner', 'contact', 'default_reviewer'] as const;

/** What a caller wrote, in the form the log keeps: persons by id, times in UTC. Only members that were given are there. */
async function settingsOf<I extends Partial<KeyInput>>(
  deps: DirectoryDeps,
  project: string,
  input: I,
): Promise<Outcome<Partial<KeySettings>>> {
  const { owner: _o, contact: _c, default_reviewer: _d, expires_at, ...plain } = input;
  const settings: Partial<KeySettings> = { ...plain };
  const template = input.template_ids?.find((id) => !isId('tpl', id));
  if (template !== undefined)
    return refused(refuse('invalid_template_id', `"${template}" is not a template id.`, { param: 'template_ids' }));
  for (const role of PEOPLE) {
    const named = input[role];
    if (named === undefined) continue;
    const person = named === null ? null : await findMember(deps, project, named);
    if (named !== null && person === null) {
      return refused(refuse('invalid_person', `${role} is not a member of this project.`, { param: role }));
    }
    settings[role] = person?.id ?? null;
  }
  if (expires_at !== undefined) {
    settings.expires_at = utcOf(expires_at);
    if (expires_at !== null && settings.expires_at === null) {
      return refused(refuse('validation_failed', 'expires_at is not a date and time.', { param: 'body.expires_at' }));
    }
  }
  return done(settings);
}

/** A key by folding its stream; null when there is none any more. */
export async function readKey(deps: Pick<DirectoryDeps, 'store'>, id: string): Promise<LiveKey | null> {
  const { events } = await deps.store.readStream<KeyEvent>(id);
  const state = events.reduce((s, event) => keyFold.evolve(s, event), keyFold.initial());
  return isLive(state) ? state : null;
}

/** An id a caller sent that no key can have. */
const notKey = (id: string): DirectoryRefusal | null =>
  isId('key', id) ? null : refuse('api_key_not_found', 'No such API key in this project.');

const live = (state: ApiKey): LiveKey => {
  if (!isLive(state)) throw new Error('A key that is not there was accepted by its rules.');
  return state;
};

/** A row whose event was refused is taken away again. */
async function dropCredential(deps: DirectoryDeps, fingerprint: string): Promise<void> {
  await deps.pool.query(
    `delete from directory.key_credentials c where fingerprint = $1
       and not exists (select from directory.api_keys k where k.id = c.key and k.fingerprint = c.fingerprint)`,
    [fingerprint],
  );
}

export async function createApiKey(
  deps: DirectoryDeps,
  project: string,
  input: KeyInput & {
    /** Given by a caller that may have to repeat the command; made when omitted. */
    id?: string;
    rawKey?: string;
  },
  meta: EventMeta,
): Promise<Outcome<KeyMade & Written<LiveKey>>> {
  const { id = newId('key'), rawKey = newRawKey(), ...given } = input;
  const checked = await settingsOf(deps, project, given);
  if (!checked.ok) return checked;
  const { expires_at } = checked.value;
  // A change may end a key at once; a new one that has ended is a mistake. By the clock keys expire by.
  if (expires_at && expires_at <= (await deps.store.head()).now) {
    return refused(
      refuse('invalid_expiry', 'expires_at is in the past: the key would be expired from the start.', { param: 'expires_at' }),
    );
  }
  const settings: KeySettings = {
    description: null,
    template_ids: null,
    owner: null,
    contact: null,
    default_reviewer: null,
    rate_limit_per_hour: null,
    ip_allowlist: null,
    expires_at: null,
    ...checked.value,
    name: input.name,
    scopes: input.scopes,
  };
  const credential = keyCredential(rawKey);
  const { fingerprint, prefix } = credential;
  const fault = bodyRefusal(KeyCreated, { ...settings, prefix, fingerprint });
  if (fault) return refused(fault);
  await writeKeyCredential(deps.pool, { id, project }, credential);
  const handled = await onKey(deps, { id, project }, meta, (state) => createKey(state, { settings, prefix, fingerprint }));
  if (handled.refusal) return refusedCredential(deps, fingerprint, handled.refusal);
  return done({ id, key: live(handled.state), rawKey, value: live(handled.state), seen: handled });
}

export async function changeApiKey(
  deps: DirectoryDeps,
  key: { id: string; project: string },
  input: Partial<KeyInput> & { is_active?: boolean },
  meta: EventMeta,
): Promise<Outcome<Written<LiveKey>>> {
  const fault = notKey(key.id);
  if (fault) return refused(fault);
  const { is_active, ...given } = input;
  const checked = await settingsOf(deps, key.project, given);
  if (!checked.ok) return checked;
  const command = { project: key.project, settings: checked.value as KeyChanged, active: is_active };
  const handled = await onKey(deps, key, meta, (state) => changeKey(state, command));
  return handled.refusal ? refused(handled.refusal) : done({ value: live(handled.state), seen: handled });
}

/** The old raw key dies with the event. */
export async function rotateApiKey(
  deps: DirectoryDeps,
  key: { id: string; project: string },
  meta: EventMeta,
): Promise<Outcome<KeyMade & Written<LiveKey>>> {
  const fault = notKey(key.id);
  if (fault) return refused(fault);
  const rawKey = newRawKey();
  const credential = keyCredential(rawKey);
  const { fingerprint, prefix } = credential;
  await writeKeyCredential(deps.pool, key, credential);
  const handled = await onKey(deps, key, meta, (state) => rotateKey(state, { project: key.project, prefix, fingerprint }));
  if (handled.refusal) return refusedCredential(deps, fingerprint, handled.refusal);
  return done({ id: key.id, key: live(handled.state), rawKey, value: live(handled.state), seen: handled });
}

export async function deleteApiKey(
  deps: DirectoryDeps,
  key: { id: string; project: string },
  meta: EventMeta,
): Promise<Outcome<Written<null>>> {
  const fault = notKey(key.id);
  if (fault) return refused(fault);
  const handled = await onKey(deps, key, meta, (state) => deleteKey(state, key));
  return handled.refusal ? refused(handled.refusal) : done({ value: null, seen: handled });
}

async function refusedCredential(deps: DirectoryDeps, fingerprint: string, refusal: DirectoryRefusal) {
  await dropCredential(deps, fingerprint);
  return refused(refusal);
}

/** When each key was last used, to the minute; keys never used are absent. */
export async function lastUses(deps: Pick<DirectoryDeps, 'pool'>, keys: readonly string[]): Promise<Map<string, string>> {
  const byUuid = new Map(keys.map((id) => [uuidOf(id), id]));
  const { rows } = await deps.pool.query<{ key: string; last_used_at: Date }>(
    'select key, last_used_at from directory.key_uses where key = any($1::uuid[])',
    [[...byUuid.keys()]],
  );
  return new Map(rows.map((row) => [byUuid.get(row.key) ?? '', row.last_used_at.toISOString()]));
}
