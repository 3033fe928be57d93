import { isDeepStrictEqual } from 'node:util';
import type { KeyChanged } from '@countersign/contracts';
import type { Decision } from '@countersign/event-store';
import { isAllowListEntry } from '../credentials/addresses.js';
import { type RefusalCode, refuse } from '../refusals.js';
import { type ApiKey, isLive, type KeyEvent, type KeySettings } from './key.js';

type KeyDecision = Decision<KeyEvent, RefusalCode>;

const noKey = (): KeyDecision => ({ events: [], refusal: refuse('api_key_not_found', 'No such API key in this project.') });

function settingsFault(settings: Partial<KeySettings>): KeyDecision | null {
  const entry = settings.ip_allowlist?.find((candidate) => !isAllowListEntry(candidate));
  if (entry !== undefined) {
    const message = `"${entry}" is not an IP address or CIDR range.`;
    return { events: [], refusal: refuse('invalid_ip_allowlist', message, { param: 'ip_allowlist' }) };
  }
  return null;
}

/** Created again under the same id with the same key: nothing happens (K9). */
export function createKey(state: ApiKey, command: { settings: KeySettings; prefix: string; fingerprint: string }): KeyDecision {
  if (state.status !== 'none') {
    const same = isLive(state) && state.fingerprint === command.fingerprint;
    return same ? { events: [] } : noKey();
  }
  const { settings, prefix, fingerprint } = command;
  return settingsFault(settings) ?? { events: [{ type: 'key.created', body: { ...settings, prefix, fingerprint } }] };
}

/** `active: false` disables the key at once; what does not differ is not written. */
export function changeKey(state: ApiKey, command: { project: string; settings: KeyChanged; active?: boolean }): KeyDecision {
  if (!isLive(state) || state.project !== command.project) return noKey();
  const fault = settingsFault(command.settings);
  if (fault) return fault;
  const changed = Object.fromEntries(
    Object.entries(command.settings).filter(
      ([name, value]) => value !== undefined && !isDeepStrictEqual(value, state[name as keyof KeySettings]),
    ),
  ) as KeyChanged;
  const events: KeyEvent[] = Object.keys(changed).length > 0 ? [{ type: 'key.changed', body: changed }] : [];
  if (command.active === false && state.status === 'active') events.push({ type: 'key.disabled', body: {} });
  if (command.active === true && state.status === 'disabled') events.push({ type: 'key.enabled', body: {} });
  return { events };
}

/** The old key dies with this event: only the row the new fingerprint names is looked at. */
export function rotateKey(state: ApiKey, command: { project: string; prefix: string; fingerprint: string }): KeyDecision {
  if (!isLive(state) || state.project !== command.project) return noKey();
  if (state.fingerprint === command.fingerprint) return { events: [] };
  if (state.status === 'disabled') {
    return { events: [], refusal: refuse('api_key_inactive', 'The key is disabled. Enable it before you rotate it.') };
  }
  return { events: [{ type: 'key.rotated', body: { prefix: command.prefix, fingerprint: command.fingerprint } }] };
}

export function deleteKey(state: ApiKey, command: { project: string }): KeyDecision {
  if (state.status === 'none' || state.project !== command.project) return noKey();
  return { events: state.status === 'deleted' ? [] : [{ type: 'key.deleted', body: {} }] };
}
