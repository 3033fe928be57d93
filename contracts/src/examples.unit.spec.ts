import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { type Examples, examplesOf, folderOf } from './generate/examples.js';
import {
  ErrorBody,
  EVENTS,
  EventHeaders,
  messages,
  OPERATIONS,
  StreamFrame,
  type TSchema,
  validator,
  WEBHOOKS,
  WebhookHeaders,
} from './index.js';

const ROOT = fileURLToPath(new URL('../examples', import.meta.url));

/** Everything that travels: requests, answers, errors, webhooks, frames, events. Parts of them have examples where it helps. */
const travelling = new Set<string>(
  [
    ...OPERATIONS.flatMap((o) => [o.params, o.query, o.body, ...Object.values(o.responses)]),
    ...Object.values(WEBHOOKS),
    ...[...EVENTS.values()].flatMap((versions) => [...versions.values()]),
    ErrorBody,
    StreamFrame,
    ...['OpenFrame', 'ResetFrame', 'ReviewFrame'].map((id) => messages().get(id)),
    EventHeaders,
    WebhookHeaders,
  ].flatMap((schema) => (schema as { $id?: string } | null | undefined)?.$id ?? []),
);

/** What callers send: read with unknown keys dropped, which must never take a known one along. */
const sent = new Set<TSchema | undefined>(OPERATIONS.flatMap((o) => [o.params, o.query, o.body]));

const withExamples: [string, TSchema, Examples][] = [...messages()]
  .map(([id, schema]): [string, TSchema, Examples] => [id, schema, examplesOf(ROOT, id)])
  .filter(([id, , examples]) => travelling.has(id) || examples.valid.length + examples.invalid.length > 0);

describe('examples', () => {
  it('cover the messages of every kind', () => {
    expect(travelling.size).toBeGreaterThan(120);
  });

  it('stand in no folder that no message has', () => {
    const folders = readdirSync(ROOT, { recursive: true, encoding: 'utf8' }).filter((path) => /(^|\/)v\d+$/.test(path));
    const known = new Set([...messages().keys()].map(folderOf));
    expect(folders.filter((folder) => !known.has(folder))).toEqual([]);
  });

  describe.each(withExamples)('%s', (_id, schema, { valid, invalid }) => {
    it('has a valid and an invalid example', () => {
      expect(valid.length).toBeGreaterThan(0);
      expect(invalid.length).toBeGreaterThan(0);
    });

    it('accepts what is valid, to the last key', () => {
      const refused = valid.flatMap(({ name, value }) => {
        const result = validator(schema, 'exact')(value);
        return result.ok ? [] : [{ name, issues: result.issues }];
      });
      expect(refused).toEqual([]);
    });

    if (sent.has(schema)) {
      it('keeps every key of what is valid when it drops unknown ones', () => {
        for (const { value } of valid) {
          const before = structuredClone(value);
          expect(validator(schema, 'drop')(value)).toEqual({ ok: true, value: before });
        }
      });
    }

    it.each(invalid)('refuses $name: $why', ({ value, issue }) => {
      const result = validator(schema, 'exact')(value);
      const told = result.ok ? [] : result.issues.map(({ path, code }) => ({ path, code }));
      expect(told).toContainEqual(issue);
    });
  });
});
