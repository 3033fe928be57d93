/** A batch in the two directions it travels: requests → parameters of `event_store.append`, its row → a result for each request. */
import { idOf } from '../ids.js';
import type { AppendResult, StoredEvent } from '../types.js';
import { int4Array, int8Array, textArray, uuidArray } from '../wire.js';
import { NO_LOWER_BOUND, NO_UPPER_BOUND, type PreparedRequest } from './request.js';

const NAMES = [
  ...['writer::text', 'appender::uuid', 'batch::bigint', 'categories::text[]', 'rounds::integer', 'bounded::boolean'],
  ...['first::integer[]', 'last::integer[]', 'not_after::bigint[]', 'not_before::bigint[]'],
  ...[
    'request::integer[]',
    'stream::uuid[]',
    'category::integer[]',
    'project::uuid[]',
    'expected::integer[]',
    'count::integer[]',
    'end::integer[]',
  ],
  ...['part::integer[]', 'rank::integer[]', 'id::uuid[]', 'type::text[]', 'schema_version::integer[]', 'body::text[]', 'meta::text[]'],
  ...['request::integer[]', 'scope::text[]', 'key::text[]', 'input_hash::text[]'],
  ...['request::integer[]', 'key::text[]', 'stream::uuid[]', 'category::integer[]', 'action::integer[]'],
  ...[
    'request::integer[]',
    'stream::uuid[]',
    'category::integer[]',
    'project::uuid[]',
    'kind::text[]',
    'action::integer[]',
    'value::bigint[]',
  ],
];

export const APPEND = {
  name: 'event_store.append',
  text: `select * from event_store.append(${NAMES.map((name, i) => `$${i + 1}::${name.split('::')[1]}`).join(', ')})`,
};

export interface AppendRow {
  time: Date;
  before: number;
  versions: number[];
  buckets: number[];
  answers: Answer[];
}

/** What a request was told that was not appended. */
type Answer = { request: number } & (
  | { status: 'repeated' | 'key_reused'; stream: string; category: string; version: number; position: number }
  | { status: 'conflict'; stream: string; category: string; version: number }
  | { status: 'reserved'; key: string; stream: string; category: string }
  | { status: 'too_late' | 'too_early'; time: string }
);

/** Who sends a batch, and which it is: the function applies a batch once, however often it is sent. */
export interface BatchIdentity {
  writer: string;
  appender: string;
  batch: number;
}

export function appendParameters(identity: BatchIdentity, requests: readonly PreparedRequest[]): unknown[] {
  const categories: string[] = [];
  const categoryIndex = (category: string) => {
    const at = categories.indexOf(category);
    return at >= 0 ? at + 1 : categories.push(category);
  };
  const r = { first: [] as number[], last: [] as number[], notAfter: [] as bigint[], notBefore: [] as bigint[] };
  const s = {
    request: [] as number[],
    stream: [] as Uint8Array[],
    category: [] as number[],
    project: [] as Uint8Array[],
    expected: [] as number[],
    count: [] as number[],
    end: [] as number[],
  };
  const e = {
    part: [] as number[],
    rank: [] as number[],
    id: [] as Uint8Array[],
    type: [] as string[],
    schemaVersion: [] as number[],
    body: [] as string[],
    meta: [] as string[],
  };
  const i = { request: [] as number[], scope: [] as string[], key: [] as string[], inputHash: [] as string[] };
  const k = { request: [] as number[], key: [] as string[], stream: [] as Uint8Array[], category: [] as number[], action: [] as number[] };
  const t = {
    request: [] as number[],
    stream: [] as Uint8Array[],
    category: [] as number[],
    project: [] as Uint8Array[],
    kind: [] as string[],
    action: [] as number[],
    value: [] as bigint[],
  };

  let rounds = 0;
  let bounded = false;
  requests.forEach((request, index) => {
    bounded ||= request.notAfter !== NO_UPPER_BOUND || request.notBefore !== NO_LOWER_BOUND;
    const number = index + 1;
    r.first.push(s.request.length + 1);
    for (const part of request.parts) {
      s.request.push(number);
      s.stream.push(part.rawStream);
      s.category.push(categoryIndex(part.category));
      s.project.push(part.rawProject);
      s.expected.push(part.expected);
      s.count.push(part.events.length);
      s.end.push(e.part.length + part.events.length);
      rounds = Math.max(rounds, part.events.length);
      part.events.forEach((event, rank) => {
        e.part.push(s.request.length);
        e.rank.push(rank + 1);
        e.id.push(event.rawId);
        e.type.push(event.type);
        e.schemaVersion.push(event.schemaVersion);
        e.body.push(event.bodyText);
        e.meta.push(request.metaText);
      });
    }
    r.last.push(s.request.length);
    r.notAfter.push(request.notAfter);
    r.notBefore.push(request.notBefore);
    for (const { scope, key, inputHash } of request.idempotency) {
      i.request.push(number);
      i.scope.push(scope);
      i.key.push(key);
      i.inputHash.push(inputHash);
    }
    const reserve = (key: string, part: PreparedRequest['parts'][number], action: number) => {
      k.request.push(number);
      k.key.push(key);
      k.stream.push(part.rawStream);
      k.category.push(categoryIndex(part.category));
      k.action.push(action);
    };
    for (const key of request.release) for (const part of request.parts) reserve(key, part, 0);
    for (const key of request.reserve) reserve(key, request.parts[0] as PreparedRequest['parts'][number], 1);
    for (const timer of request.timers) {
      t.request.push(number);
      t.stream.push(timer.rawStream);
      t.category.push(categoryIndex(timer.category));
      t.project.push(timer.rawProject);
      t.kind.push(timer.kind);
      t.action.push(timer.action);
      t.value.push(timer.value);
    }
  });

  return [
    ...[identity.writer, identity.appender, identity.batch, textArray(categories), rounds, bounded],
    ...[int4Array(r.first), int4Array(r.last), int8Array(r.notAfter), int8Array(r.notBefore)],
    ...[
      int4Array(s.request),
      uuidArray(s.stream),
      int4Array(s.category),
      uuidArray(s.project),
      int4Array(s.expected),
      int4Array(s.count),
      int4Array(s.end),
    ],
    ...[
      int4Array(e.part),
      int4Array(e.rank),
      uuidArray(e.id),
      textArray(e.type),
      int4Array(e.schemaVersion),
      textArray(e.body),
      textArray(e.meta),
    ],
    ...[int4Array(i.request), textArray(i.scope), textArray(i.key), textArray(i.inputHash)],
    ...[int4Array(k.request), textArray(k.key), uuidArray(k.stream), int4Array(k.category), int4Array(k.action)],
    ...[
      int4Array(t.request),
      uuidArray(t.stream),
      int4Array(t.category),
      uuidArray(t.project),
      textArray(t.kind),
      int4Array(t.action),
      int8Array(t.value),
    ],
  ];
}

/** A result for each request, in order. */
export function appendResults(row: AppendRow, requests: readonly PreparedRequest[], prefixes: Record<string, string>): AppendResult[] {
  const answers = new Map(row.answers.map((answer) => [answer.request, answer]));
  const streamId = (category: string, uuid: string) => idOf(prefixes[category] ?? category, uuid);
  const now = row.time.toISOString();
  let position = row.before;
  let part = 0;
  return requests.map((request, index) => {
    const firstPart = part;
    part += request.parts.length;
    const answer = answers.get(index + 1);
    if (answer) {
      switch (answer.status) {
        case 'repeated':
          return {
            status: 'repeated',
            stream: streamId(answer.category, answer.stream),
            version: answer.version,
            position: answer.position,
          };
        case 'key_reused':
          return { status: 'key_reused', stream: streamId(answer.category, answer.stream), version: answer.version };
        case 'conflict':
          return { status: 'conflict', stream: streamId(answer.category, answer.stream), currentVersion: answer.version };
        case 'reserved':
          return { status: 'reserved', key: answer.key, holder: streamId(answer.category, answer.stream) };
        default:
          return { status: answer.status, now: new Date(answer.time).toISOString() };
      }
    }
    const streams = request.parts.map((p, n) => {
      const before = row.versions[firstPart + n] as number;
      const bucket = row.buckets[firstPart + n] as number;
      const events = p.events.map(
        (event, rank): StoredEvent => ({
          position: ++position,
          shard: 0,
          stream: p.stream,
          category: p.category,
          version: before + rank + 1,
          id: event.id,
          project: p.project,
          bucket,
          type: event.type,
          schemaVersion: event.schemaVersion,
          time: now,
          body: event.body,
          redacted: false,
          meta: request.meta,
        }),
      );
      return { stream: p.stream, version: before + events.length, events };
    });
    return { status: 'appended', time: now, position, streams };
  });
}
