import { fromUUID, fromUUIDBytes, toUUID, toUUIDBytes, typeidUnboxed } from 'typeid-js';

/** A new public id: prefix, `_`, UUIDv7 in lowercase Crockford base32 (decision 18). Later ids sort after earlier ones. */
export function newId(prefix: string): string {
  return typeidUnboxed(prefix);
}

/** The uuid an id stands for. @throws {Error} when it is not a TypeID. */
export function uuidOf(id: string): string {
  return toUUID(id as never);
}

/** The id of a uuid. @throws {Error} when `uuid` is not one. */
export function idOf(prefix: string, uuid: string): string {
  return fromUUID(uuid, prefix);
}

const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** Whether a text a caller sent is an id with this prefix: nothing else of it is looked at before this. */
export function isId(prefix: string, text: unknown): text is string {
  return typeof text === 'string' && text.startsWith(`${prefix}_`) && SUFFIX.test(text.slice(prefix.length + 1));
}

/** Prefix of an id: what stands before the last `_`. */
export function prefixOf(id: string): string {
  return id.slice(0, Math.max(0, id.lastIndexOf('_')));
}

export function bytesOf(id: string): Uint8Array {
  return toUUIDBytes(id as never);
}

export function idOfBytes(prefix: string, bytes: Uint8Array): string {
  return fromUUIDBytes(prefix, bytes);
}

/** Project of the installation's own streams: people, and whatever belongs to no project (K2). */
export const INSTALLATION_PROJECT = idOf('prj', '00000000-0000-7000-8000-000000000000');
