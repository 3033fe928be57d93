import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { CATEGORIES, categoryOf, choice, EVENTS, message, nullable, OPERATIONS, ref, type Static, Type, validator } from './index.js';
import { messages } from './schema.js';

describe('a message', () => {
  it('has an $id of its own (S1)', () => {
    const Once = message('OnceOnly', Type.Object({ a: Type.String() }));
    expect(() => message('OnceOnly', Type.Object({}))).toThrow('Two schemas claim the $id OnceOnly.');
    expect(() => ref(Type.Object({}))).toThrow('no registered message');
    expect(ref(Once)).toEqual({ $ref: 'OnceOnly' });
  });
});

describe('every schema', () => {
  const ajv = new Ajv2020({ strict: false });
  const faultsOf = (schema: object) => (ajv.validateSchema(schema) ? [] : ajv.errors);

  it('is one by the metaschema, which a validator does not ask again', () => {
    const ofOperations = OPERATIONS.flatMap(({ params, query, body, responses }) => [params, query, body, ...Object.values(responses)]);
    const schemas = [...messages().values(), ...ofOperations].filter((schema) => schema != null);
    expect(schemas.length).toBeGreaterThan(OPERATIONS.length);
    for (const schema of schemas) expect([schema, faultsOf(schema)]).toEqual([schema, []]);
    expect(faultsOf({ type: 'text' })).not.toEqual([]);
  });
});

describe('nullable', () => {
  it('takes the value or null, for plain types, vocabularies and references alike', () => {
    const shapes = [
      nullable(Type.String({ minLength: 2 })),
      nullable(choice(['a', 'b'])),
      nullable(Type.Unsafe<'x'>({ type: 'string', const: 'x' })),
    ];
    const accepted = shapes.map((shape) =>
      [null, 'ab', 'a', 'x'].filter((value) => validator(Type.Object({ shape }), 'exact')({ shape: value }).ok),
    );
    expect(accepted).toEqual([
      [null, 'ab'],
      [null, 'a'],
      [null, 'x'],
    ]);
    const typed: Static<(typeof shapes)[1]> = null;
    expect(typed).toBeNull();
  });

  it('reports one fault for a wrong value', () => {
    const result = validator(Type.Object({ shape: nullable(choice(['a', 'b'])) }))({ shape: 'c' });
    expect(result).toMatchObject({ ok: false, issues: [{ path: 'shape', code: 'invalid_value' }] });
  });
});

describe('topics', () => {
  it('have a home for every event, and for no other', () => {
    expect(new Set([...EVENTS.keys()].map(categoryOf))).toEqual(new Set(CATEGORIES));
    expect(categoryOf('membership.granted')).toBe('project');
    expect(() => categoryOf('weather.changed')).toThrow('contracts/src/topics.ts');
  });
});
