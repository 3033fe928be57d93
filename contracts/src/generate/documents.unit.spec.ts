import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { ERRORS, EVENTS, errorPage, errorsOf, messages, OPERATIONS, openApiDocument, ROUTING_ERRORS, topicOf, WEBHOOKS } from '../index.js';
import { asyncApi } from './asyncapi.js';
import type { Json } from './json-schema.js';
import { reached, schemaFiles } from './json-schema.js';
import { openApi } from './openapi.js';

const EXAMPLES = fileURLToPath(new URL('../../examples', import.meta.url));

/** Every `$ref` of a document that leads nowhere. */
function dangling(document: Json): string[] {
  const refs = new Set<string>();
  JSON.stringify(document, (key, value: unknown) => {
    if (key === '$ref' && typeof value === 'string') refs.add(value);
    return value;
  });
  return [...refs].filter((ref) => {
    const parts = ref
      .replace(/^#\//, '')
      .split('/')
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    return parts.reduce<unknown>((at, part) => (at as Json | undefined)?.[part], document) === undefined;
  });
}

type Response = { $ref?: string; content?: Json };
type Operations = Record<string, Record<string, { responses: Record<string, Response>; security: Json[] } & Json>>;

describe('OpenAPI', () => {
  const document = openApi(EXAMPLES, '0.0.0');
  const paths = document.paths as Operations;
  const at = (path: string, method: string) => {
    const operation = paths[path]?.[method.toLowerCase()];
    if (!operation) throw new Error(`${method} ${path} is not described.`);
    return operation;
  };

  it('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(document));
    expect(result.errors ?? []).toEqual([]);
    expect(result.valid).toBe(true);
  });

  it('is refused by the same validator when a part of it is wrong', async () => {
    const broken = structuredClone(document);
    (broken as { info?: unknown }).info = 'Countersign';
    expect((await new Validator().validate(broken)).valid).toBe(false);
  });

  it('has no reference that leads nowhere', () => {
    expect(dangling(document)).toEqual([]);
    expect(dangling({ ...document, components: {} }).length).toBeGreaterThan(100);
  });

  it('describes exactly the operations of the table', () => {
    const described = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described.sort()).toEqual(OPERATIONS.map((o) => `${o.method} ${o.path}`).sort());
  });

  it.each(OPERATIONS.map((o) => [o.id, o] as const))('%s: has every status and code, and says who may call', (_id, o) => {
    const described = at(o.path, o.method);
    const codes = Object.entries(described.responses).flatMap(([status, response]) => {
      const name = response.$ref?.split('/').at(-1);
      const resolved = name ? ((document.components as Json).responses as Record<string, Response>)[name] : response;
      const found = [...JSON.stringify(resolved?.content ?? {}).matchAll(/"code":\{"enum":(\[[^\]]*\])/g)].flatMap(
        ([, list]) => JSON.parse(list as string) as string[],
      );
      for (const code of found) expect(ERRORS[code as keyof typeof ERRORS].status).toBe(Number(status));
      return found;
    });
    expect(codes.sort()).toEqual(errorsOf(o).sort());
    expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(Object.keys(o.responses)));
    expect(described['x-human-only'] === true).toBe(o.access === 'human');
    expect(described.security.some((one) => 'apiKey' in one)).toBe(o.access === 'key' || o.access === 'key_or_session');
    expect(described.security.some((one) => 'session' in one)).toBe(!['public', 'key'].includes(o.access));
    expect(described.deprecated === true).toBe(o.deprecated !== undefined);
  });

  it('says feature_not_available wherever a body can be refused with it', () => {
    const hidden = OPERATIONS.filter(
      (o) => o.body && JSON.stringify(reached(o.body).map((id) => messages().get(id))).includes('"x-later"'),
    );
    expect(hidden.length).toBeGreaterThan(2);
    expect(hidden.filter((o) => !errorsOf(o).includes('feature_not_available'))).toEqual([]);
  });

  it('describes errors outside every operation, and every webhook', () => {
    expect(Object.keys((document.components as Json).responses as Json)).toEqual(expect.arrayContaining([...ROUTING_ERRORS]));
    expect(Object.keys(document.webhooks as Json)).toEqual(Object.keys(WEBHOOKS));
  });

  it('shows an example of every request body that is a message', () => {
    const bare = OPERATIONS.filter((o) => o.body).filter((o) => !JSON.stringify(at(o.path, o.method).requestBody).includes('"examples"'));
    expect(bare.map((o) => o.id)).toEqual([]);
  });
});

describe('AsyncAPI', () => {
  const document = asyncApi(EXAMPLES, '0.0.0');
  const schema = createRequire(import.meta.url)('@asyncapi/specs/schemas/3.0.0.json') as Json;
  // The schema brings draft-07 along itself.
  const ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  formats.default(ajv);
  const check = ajv.compile(schema);

  it('is valid AsyncAPI 3.0', () => {
    check(document);
    expect(check.errors ?? []).toEqual([]);
  });

  it('is refused by the same schema when a part of it is wrong', () => {
    expect(check({ ...document, operations: { broken: { action: 'shout', channel: { $ref: '#/channels/review' } } } })).toBe(false);
  });

  it('has no reference that leads nowhere', () => {
    expect(dangling(document)).toEqual([]);
  });

  it('puts every event on the topic of its category, once', () => {
    const channels = document.channels as Record<string, { address: string | null; messages: Json }>;
    const topics = Object.entries(channels).filter(([, channel]) => channel.address?.startsWith('countersign.'));
    const published = topics.flatMap(([, channel]) => Object.keys(channel.messages));
    const all = [...EVENTS].flatMap(([type, versions]) => [...versions.keys()].map((version) => `${type}.v${version}`));
    expect(published.sort()).toEqual(all.sort());
    expect(topics.map(([category, channel]) => [category, channel.address])).toEqual(
      topics.map(([category]) => [category, topicOf(category as Parameters<typeof topicOf>[0])]),
    );
  });

  it('has an example of every message', () => {
    const described = (document.components as Json).messages as Record<string, { examples?: unknown[] }>;
    expect(
      Object.entries(described)
        .filter(([, message]) => !message.examples?.length)
        .map(([id]) => id),
    ).toEqual([]);
  });
});

describe('what is generated', () => {
  it('is one schema file for each message', () => {
    expect([...schemaFiles().keys()]).toEqual([...messages().keys()].map((id) => `schemas/${id}.json`));
  });

  it('can be compiled as files, by their names alone', () => {
    const files = [...schemaFiles().values()];
    const ajv = new Ajv2020({ strict: false, schemas: files });
    formats.default(ajv);
    const check = ajv.getSchema('ReviewCreate.json');
    expect(check?.({ template: 'email', payload: {} })).toBe(true);
    expect(check?.({ template: 'email' })).toBe(false);
    for (const { $id } of files) expect(ajv.getSchema($id as string)).toBeInstanceOf(Function);
  });

  it('is what the gateway can serve', () => {
    expect(openApiDocument()).toMatchObject({ openapi: '3.1.0', info: { title: 'Countersign' } });
  });

  it('explains every code under the anchor doc_url leads to', () => {
    const page = errorPage();
    for (const code of Object.keys(ERRORS)) expect(page).toContain(`<a id="${code}"></a>`);
    expect(readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8').startsWith('# Error codes\n')).toBe(true);
  });
});
