/**
 * How events travel on Kafka (docs/architecture.md, decisions K11, K12): a topic for each category, CloudEvents 1.0 in binary mode, key = stream,
 * partition = bucket, value = the exact bytes the store holds.
 */
import { digest, eventId, projectId, timestamp } from './http/primitives.js';
import { choice, message, type Static, Type } from './schema.js';

/** Categories of streams, and what the ids of each begin with (decision 18). */
export const CATEGORY_PREFIXES = { review: 'rev', template: 'tpl', project: 'prj', person: 'per', key: 'key', delivery: 'whd' } as const;
export type Category = keyof typeof CATEGORY_PREFIXES;
export const CATEGORIES = Object.keys(CATEGORY_PREFIXES) as Category[];

/** Buckets of a store, and partitions of each topic (K11); a start checks that the database has as many. Growing means a new generation of topics. */
export const BUCKETS = 12;

/** Facts that live in another stream than their name says: people of a project are the project's facts. */
const HOME: Record<string, Category> = { secret: 'project', membership: 'project', invite: 'project' };

/** Category whose streams hold an event type. @throws {Error} for a type of none: name its home here. */
export function categoryOf(eventType: string): Category {
  const prefix = eventType.split('.', 1)[0] ?? '';
  const category = HOME[prefix] ?? CATEGORIES.find((name) => name === prefix);
  if (!category)
    throw new Error(`No category holds events named ${prefix}.*; add it to CATEGORY_PREFIXES or HOME in contracts/src/topics.ts.`);
  return category;
}

export function topicOf(category: Category): string {
  return `countersign.${category}.v1`;
}

const numeral = (description: string) => Type.String({ pattern: '^\\d+$', description });

/** Headers of a Kafka message. All values are text. */
export const EventHeaders = message(
  'EventHeaders',
  Type.Object({
    'content-type': Type.Unsafe<'application/json'>({ type: 'string', const: 'application/json' }),
    ce_specversion: choice(['1.0']),
    ce_id: eventId(),
    ce_source: Type.String({ pattern: '^/countersign/[a-z]+$', description: '/countersign/<category>' }),
    ce_type: Type.String({ description: 'Type of the event, such as review.decided.' }),
    ce_subject: Type.String({ description: 'Id of the stream, such as rev_…; also the message key and ce_partitionkey.' }),
    ce_time: timestamp(),
    ce_partitionkey: Type.String(),
    ce_project: projectId(),
    ce_shard: numeral('Shard of the store.'),
    ce_position: numeral('Dense in its shard and rising within a partition: drop what is not above your cursor.'),
    ce_streamversion: numeral('1-based and dense in the stream.'),
    ce_schemaversion: numeral('Version of the body’s schema.'),
    ce_meta: Type.String({ description: 'Actor and request: the stored metadata as JSON.' }),
    ce_dataref: Type.Optional(
      numeral('Set if the body exceeds 256 KB: the value is empty; read the event from the store at this position.'),
    ),
    ce_datadigest: Type.Optional(digest('With ce_dataref: digest of the bytes to be read.')),
    traceparent: Type.Optional(Type.String()),
    tracestate: Type.Optional(Type.String()),
  }),
);
export type EventHeaders = Static<typeof EventHeaders>;
