import { EVENTS } from '../events/registry.js';
import { messages, type TSchema } from '../schema.js';
import { StreamFrame } from '../stream/frames.js';
import { BUCKETS, CATEGORIES, categoryOf, EventHeaders, topicOf } from '../topics.js';
import { WEBHOOKS } from '../webhooks/bodies.js';
import { WebhookHeaders } from '../webhooks/headers.js';
import { examplesOf } from './examples.js';
import { componentRef, components, type Json, reached } from './json-schema.js';

const BINDING_VERSION = '0.5.0';
const FRAMES = ['OpenFrame', 'ResetFrame', 'ReviewFrame'] as const;

/** AsyncAPI 3.0 of everything that is sent without being asked for: events on Kafka, webhooks, the stream's frames. */
export function asyncApi(examples: string, version: string): Json {
  const events = [...EVENTS].flatMap(([type, versions]) => [...versions].map(([number, schema]) => ({ type, number, schema })));
  const webhooks = Object.entries(WEBHOOKS);
  const held = CATEGORIES.filter((category) => events.some(({ type }) => categoryOf(type) === category));
  const used = reached(
    EventHeaders,
    WebhookHeaders,
    StreamFrame,
    ...events.map(({ schema }) => schema),
    ...webhooks.map(([, schema]) => schema),
  );
  const idsOf = (category: string) => events.filter(({ type }) => categoryOf(type) === category).map(({ schema }) => idOf(schema));
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Countersign events',
      version,
      license: { name: 'Apache-2.0' },
      description:
        'Events are published as they are stored, in order for each stream, at least once. Webhooks go to the callback_url of a request; frames to GET /api/v1/events/stream.',
    },
    defaultContentType: 'application/json',
    servers: {
      kafka: {
        host: '{brokers}',
        protocol: 'kafka',
        variables: { brokers: { description: 'KAFKA_BROKERS', default: 'localhost:9092' } },
      },
    },
    channels: {
      ...Object.fromEntries(
        held.map((category) => [
          category,
          {
            address: topicOf(category),
            servers: [{ $ref: '#/servers/kafka' }],
            messages: messageRefs(idsOf(category)),
            bindings: { kafka: { topic: topicOf(category), partitions: BUCKETS, bindingVersion: BINDING_VERSION } },
          },
        ]),
      ),
      webhooks: {
        address: null,
        description: 'The callback_url of each request.',
        messages: messageRefs(webhooks.map(([, schema]) => idOf(schema))),
      },
      stream: { address: '/api/v1/events/stream', description: 'Server-sent events over HTTP.', messages: messageRefs([...FRAMES]) },
    },
    operations: {
      ...Object.fromEntries(
        held.map((category) => [`publish_${category}`, sends(category, `All events of category ${category}.`, idsOf(category))]),
      ),
      deliverWebhooks: sends(
        'webhooks',
        'Signed, in order for each review, retried until answered with 2xx.',
        webhooks.map(([, schema]) => idOf(schema)),
      ),
      streamFrames: sends('stream', 'Sent to clients of the event stream.', [...FRAMES]),
    },
    components: {
      schemas: components(used),
      messages: {
        ...Object.fromEntries(
          events.map(({ type, number, schema }) => [
            idOf(schema),
            {
              ...messageObject(schema, examples),
              name: type,
              title: `${type}, version ${number}`,
              headers: { $ref: componentRef('EventHeaders') },
              bindings: { kafka: { key: { type: 'string', description: 'Id of the stream.' }, bindingVersion: BINDING_VERSION } },
            },
          ]),
        ),
        ...Object.fromEntries(
          webhooks.map(([event, schema]) => [
            idOf(schema),
            { ...messageObject(schema, examples), name: event, headers: { $ref: componentRef('WebhookHeaders') } },
          ]),
        ),
        ...Object.fromEntries(FRAMES.map((id) => [id, { ...messageObject(messages().get(id) as TSchema, examples), name: id }])),
      },
    },
  };
}

const idOf = (schema: TSchema): string => (schema as unknown as { $id: string }).$id;

function messageRefs(ids: string[]): Json {
  return Object.fromEntries(ids.map((id) => [id, { $ref: `#/components/messages/${id}` }]));
}

function sends(channel: string, summary: string, ids: string[]): Json {
  return {
    action: 'send',
    summary,
    channel: { $ref: `#/channels/${channel}` },
    messages: ids.map((id) => ({ $ref: `#/channels/${channel}/messages/${id}` })),
  };
}

function messageObject(schema: TSchema, examples: string): Json {
  const valid = examplesOf(examples, idOf(schema)).valid;
  return {
    contentType: 'application/json',
    payload: { $ref: componentRef(idOf(schema)) },
    ...(valid.length > 0 ? { examples: valid.map(({ name, value }) => ({ name, payload: value })) } : {}),
  };
}
