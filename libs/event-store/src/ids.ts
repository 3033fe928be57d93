import { decodeBase32, encodeBase32, SUFFIX_LENGTH, uuidBytes, uuidText, uuidV7 } from './typeid.js';

/**
 * A new public id (decision 18): a TypeID, that is prefix, `_`, UUIDv7 in lowercase Crockford base32. Later ids of a process sort after
 * earlier ones.
 */
export function newId(prefix: string): string {
  return `${checkedPrefix(prefix)}_${encodeBase32(uuidV7())}`;
}

/** The uuid an id stands for. @throws {Error} when it is not a TypeID. */
export function uuidOf(id: string): string {
  return uuidText(bytesOf(id));
}

/** The id of a uuid. @throws {Error} when `uuid` is not one. */
export function idOf(prefix: string, uuid: string): string {
  const bytes = uuidBytes(uuid);
  if (!bytes) throw new Error(`"${uuid}" is not a uuid.`);
  return `${checkedPrefix(prefix)}_${encodeBase32(bytes)}`;
}

/** Whether a text a caller sent is an id with this prefix: nothing else of it is looked at before this. */
export function isId(prefix: string, text: unknown): text is string {
  return (
    typeof text === 'string' && text.startsWith(prefix) && text[prefix.length] === '_' && decodeBase32(text, prefix.length + 1) !== null
  );
}

/** What stands before an id's last `_`; empty when there is none. */
export function prefixOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf('_')));
}

/** The 16 bytes of an id's uuid. @throws {Error} when it is not a TypeID. */
export function bytesOf(id: string): Uint8Array {
  const start = id.length - SUFFIX_LENGTH;
  const bytes = id[start - 1] === '_' && PREFIX.test(id.slice(0, start - 1)) ? decodeBase32(id, start) : null;
  if (!bytes) throw new Error(`"${id}" is not an id: a prefix, "_" and 26 characters of base32.`);
  return bytes;
}

/** A new id with the bytes of its uuid. */
export function newIdWithBytes(prefix: string): { id: string; bytes: Uint8Array } {
  const bytes = uuidV7();
  return { id: `${prefix}_${encodeBase32(bytes)}`, bytes };
}

const PREFIX = /^[a-z](?:[a-z_]{0,61}[a-z])?$/;
const checked = new Set<string>();

function checkedPrefix(prefix: string): string {
  if (!checked.has(prefix)) {
    if (!PREFIX.test(prefix)) throw new Error(`"${prefix}" is not a prefix of ids: lower-case letters, at most 63.`);
    checked.add(prefix);
  }
  return prefix;
}

/** Project of the installation's own streams: people, and whatever belongs to no project (K2). */
export const INSTALLATION_PROJECT = idOf('prj', '00000000-0000-7000-8000-000000000000');
