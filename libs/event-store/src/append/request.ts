/**
 * A request made ready for a batch: checked, its JSON canonical, its ids raw. Whatever is wrong with it is found here, by its caller,
 * and never in SQL, where it would take the batch's other requests along.
 */
import { canonicalize, NotCanonicalError } from '@countersign/evidence';
import { bytesOf, isId, newIdWithBytes, prefixOf } from '../ids.js';
import type { AppendRequest, DomainEvent, EventMeta } from '../types.js';

export interface PreparedEvent {
  id: string;
  rawId: Uint8Array;
  type: string;
  schemaVersion: number;
  body: unknown;
  bodyText: string;
}

export interface PreparedPart {
  stream: string;
  rawStream: Uint8Array;
  category: string;
  project: string;
  rawProject: Uint8Array;
  /** -1 for any. */
  expected: number;
  events: PreparedEvent[];
}

export interface PreparedTimer {
  rawStream: Uint8Array;
  category: string;
  rawProject: Uint8Array;
  kind: string;
  /** 0 cancel, 1 `value` microseconds after the events' time, 2 at `value` microseconds since 1970. */
  action: 0 | 1 | 2;
  value: bigint;
}

export interface PreparedRequest {
  parts: PreparedPart[];
  meta: EventMeta;
  metaText: string;
  notAfter: bigint;
  notBefore: bigint;
  reserve: string[];
  release: string[];
  timers: PreparedTimer[];
  idempotency: { scope: string; key: string; inputHash: string }[];
  /** What no other request of the same batch may touch. */
  touches: Set<string>;
  /** Number of events, and characters of their JSON, for the batch's limits. */
  events: number;
  bytes: number;
}

/** Categories and the prefix of their streams' ids, both ways. */
export interface Categories {
  /** Category → prefix. */
  prefixes: Record<string, string>;
  /** Prefix → category. */
  byPrefix: Map<string, string>;
}

/** Scope under which command ids stand beside the callers' keys. */
const COMMAND_SCOPE = ':command';
export const NO_UPPER_BOUND = 2n ** 63n - 1n;
export const NO_LOWER_BOUND = -(2n ** 63n);
/** In bytes of UTF-8: 255 characters of any kind fit, and two such texts still fit an entry of a PostgreSQL index. */
const MAX_TEXT = 1_024;

/** The request cannot be stored, whatever the database holds: a fault of the caller's code. */
export class InvalidAppendError extends Error {
  override readonly name = 'InvalidAppendError';
}

export function prepare<E extends DomainEvent>(
  request: AppendRequest<E>,
  categories: Categories,
  validate?: (type: string, schemaVersion: number, body: unknown) => void,
): PreparedRequest {
  const parts = request.streams.map((part) => preparePart(part, categories, validate));
  const events = parts.reduce((sum, part) => sum + part.events.length, 0);
  if (events === 0) throw new InvalidAppendError('An append has at least one event.');
  if (new Set(parts.map((part) => part.stream)).size !== parts.length)
    throw new InvalidAppendError('A stream appears twice in one append.');

  const { value: meta, text: metaText } = canonical(request.meta, 'meta');
  const reserve = [...new Set(request.reserve ?? [])];
  const release = [...new Set(request.release ?? [])];
  for (const key of [...reserve, ...release]) checkText(key, 'reservation key');
  const timers = prepareTimers(request, parts, categories);
  const idempotency = prepareKeys(request);
  return {
    parts,
    meta: meta as EventMeta,
    metaText,
    notAfter: request.notAfter === undefined ? NO_UPPER_BOUND : microseconds(request.notAfter, 'notAfter'),
    notBefore: request.notBefore === undefined ? NO_LOWER_BOUND : microseconds(request.notBefore, 'notBefore'),
    reserve,
    release,
    timers,
    idempotency,
    touches: new Set([
      ...parts.map((part) => part.stream),
      ...timers.map((timer) => `timer ${Buffer.from(timer.rawStream).toString('hex')} ${timer.kind}`),
      ...reserve.map((key) => `key ${key}`),
      ...release.map((key) => `key ${key}`),
      ...idempotency.map(({ scope, key }) => `idempotency ${scope} ${key}`),
    ]),
    events,
    bytes: parts.reduce((sum, part) => part.events.reduce((n, event) => n + event.bodyText.length + metaText.length, sum), 0),
  };
}

function preparePart(
  part: AppendRequest['streams'][number],
  categories: Categories,
  validate?: (type: string, schemaVersion: number, body: unknown) => void,
): PreparedPart {
  const category = categoryOf(part.stream, categories);
  if (!isId('prj', part.project)) throw new InvalidAppendError(`"${part.project}" is not a project's id.`);
  if (
    part.expectedVersion !== 'any' &&
    !(Number.isInteger(part.expectedVersion) && part.expectedVersion >= 0 && part.expectedVersion < 2 ** 31)
  ) {
    throw new InvalidAppendError(`${String(part.expectedVersion)} is not a version a stream can have.`);
  }
  return {
    stream: part.stream,
    rawStream: bytesOf(part.stream),
    category,
    project: part.project,
    rawProject: bytesOf(part.project),
    expected: part.expectedVersion === 'any' ? -1 : part.expectedVersion,
    events: part.events.map((event) => prepareEvent(event, validate)),
  };
}

function prepareEvent(event: DomainEvent, validate?: (type: string, schemaVersion: number, body: unknown) => void): PreparedEvent {
  checkText(event.type, 'event type');
  const schemaVersion = event.schemaVersion ?? 1;
  if (!Number.isInteger(schemaVersion) || schemaVersion < 1 || schemaVersion >= 2 ** 31) {
    throw new InvalidAppendError(`${schemaVersion} is not a schema version.`);
  }
  const { value: body, text: bodyText } = canonical(event.body, event.type);
  validate?.(event.type, schemaVersion, body);
  const { id, bytes: rawId } = newIdWithBytes('evt');
  return { id, rawId, type: event.type, schemaVersion, body, bodyText };
}

function prepareTimers(request: AppendRequest, parts: PreparedPart[], categories: Categories): PreparedTimer[] {
  const timers = new Map<string, PreparedTimer>();
  const add = (stream: string, kind: string, action: 0 | 1 | 2, value: bigint) => {
    checkText(kind, 'timer kind');
    const project = (parts.find((part) => part.stream === stream) ?? parts[0])?.rawProject as Uint8Array;
    timers.set(`${stream} ${kind}`, {
      rawStream: bytesOf(stream),
      category: categoryOf(stream, categories),
      rawProject: project,
      kind,
      action,
      value,
    });
  };
  for (const { stream, kind } of request.cancel ?? []) add(stream, kind, 0, 0n);
  for (const { stream, kind, due } of request.schedule ?? []) {
    if ('at' in due) add(stream, kind, 2, microseconds(due.at, 'due.at'));
    else {
      const value = Math.round(due.inSeconds * 1e6);
      if (!Number.isSafeInteger(value)) throw new InvalidAppendError(`A timer cannot be due in ${due.inSeconds} seconds.`);
      add(stream, kind, 1, BigInt(value));
    }
  }
  return [...timers.values()];
}

function prepareKeys(request: AppendRequest): { scope: string; key: string; inputHash: string }[] {
  const keys = [];
  if (request.idempotency) {
    const { scope, key, inputHash } = request.idempotency;
    checkText(scope, 'idempotency scope');
    checkText(key, 'idempotency key');
    checkText(inputHash, 'input hash');
    if (scope === COMMAND_SCOPE) throw new InvalidAppendError(`The scope ${COMMAND_SCOPE} is the store's own.`);
    keys.push({ scope, key, inputHash });
  }
  if (request.commandId !== undefined) {
    checkText(request.commandId, 'command id');
    keys.push({ scope: COMMAND_SCOPE, key: request.commandId, inputHash: '' });
  }
  return keys;
}

function categoryOf(stream: string, categories: Categories): string {
  const prefix = prefixOf(stream);
  const category = categories.byPrefix.get(prefix);
  if (category === undefined || !isId(prefix, stream)) {
    throw new InvalidAppendError(
      `"${stream}" is not the id of a stream this store knows (${[...categories.byPrefix.keys()].join('_, ')}_).`,
    );
  }
  return category;
}

/** Members that are `undefined` are left out, as JSON does; everything else JSON cannot say is refused. */
function canonical(value: unknown, of: string): { value: unknown; text: string } {
  try {
    return { value, text: canonicalize(value) };
  } catch (error) {
    if (!(error instanceof NotCanonicalError)) throw error;
  }
  try {
    const without = withoutUndefined(value);
    return { value: without, text: canonicalize(without) };
  } catch (error) {
    throw new InvalidAppendError(`The body of ${of} cannot be stored: ${(error as Error).message}.`, { cause: error });
  }
}

function withoutUndefined(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutUndefined);
  if (value === null || typeof value !== 'object' || Object.getPrototypeOf(value) !== Object.prototype) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => [key, withoutUndefined(member)]),
  );
}

function checkText(text: unknown, of: string): void {
  if (typeof text !== 'string' || text === '' || Buffer.byteLength(text) > MAX_TEXT || text.includes('\u0000') || !text.isWellFormed()) {
    throw new InvalidAppendError(`A ${of} is a text of 1 to ${MAX_TEXT} bytes without NUL or lone surrogates.`);
  }
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,3})?Z$/;

function microseconds(time: string, of: string): bigint {
  const ms = ISO_TIME.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(ms)) throw new InvalidAppendError(`${of} is not an ISO 8601 time in UTC with at most milliseconds: ${time}.`);
  return BigInt(ms) * 1000n;
}
