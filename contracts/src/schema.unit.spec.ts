import { describe, expect, it } from '@jest/globals';
import { CATEGORIES, categoryOf, choice, EVENTS, message, nullable, ref, type Static, Type, validator } from './index.js';

describe('a message', () => {
  it('has an $id of its own (S1)', () => {
    const Once = message('OnceOnly', Type.Object({ a: Type.String() }));
    expect(() => message('OnceOnly', Type.Object({}))).toThrow('Two schemas claim the $id OnceOnly.');
    expect(() => ref(Type.Object({}))).toThrow('no registered message');
    expect(ref(Once)).toEqual({ $ref: 'OnceOnly' });
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
