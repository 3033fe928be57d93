import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromUUID, toUUID } from 'typeid-js';
import { INSTALLATION_PROJECT, idOf, isId, newId, prefixOf, uuidOf } from './index.js';

describe('ids', () => {
  it('are what the TypeID package makes of the same uuid, both ways', () => {
    fc.assert(
      fc.property(fc.uuid(), fc.constantFrom('rev', 'evt', 'a', 'two_words'), (uuid, prefix) => {
        const id = idOf(prefix, uuid);
        expect(id).toBe(fromUUID(uuid, prefix));
        expect(uuidOf(id)).toBe(uuid);
        expect(toUUID(id as never)).toBe(uuid);
        expect(isId(prefix, id)).toBe(true);
        expect(prefixOf(id)).toBe(prefix);
      }),
      { numRuns: 500 },
    );
  });

  it('of one process rise strictly and hold a UUIDv7 of now', () => {
    const before = Date.now();
    const ids = Array.from({ length: 20_000 }, () => newId('evt'));
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
    for (const id of [ids[0], ids.at(-1)] as string[]) {
      const uuid = uuidOf(id);
      expect(uuid).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
      // Counting past the room of a millisecond borrows from the next ones.
      const ms = Number.parseInt(uuid.replace('-', '').slice(0, 12), 16);
      expect(ms).toBeGreaterThanOrEqual(before);
      expect(ms).toBeLessThan(before + 60_000);
    }
  });

  it.each([
    '',
    'rev',
    'rev_',
    'rev_01k0',
    'tpl_01h455vb4pex5vsknk084sn02q',
    'rev_81h455vb4pex5vsknk084sn02q',
    'rev_01H455VB4PEX5VSKNK084SN02Q',
    'rev_01h455vb4pex5vsknk084sn02u',
    'rev_01h455vb4pex5vsknk084sn02q ',
    'rev_01h455vb4pex5vsknk084sn02ü',
    'rev-01h455vb4pex5vsknk084sn02q',
    'REV_01h455vb4pex5vsknk084sn02q',
    42,
    null,
  ])('refuses %p as a review’s id', (text) => {
    expect(isId('rev', text)).toBe(false);
  });

  it('refuse what they cannot stand for', () => {
    expect(() => uuidOf('rev_nonsense')).toThrow('is not an id');
    expect(() => uuidOf('_01h455vb4pex5vsknk084sn02q')).toThrow('is not an id');
    expect(() => idOf('rev', 'not-a-uuid')).toThrow('is not a uuid');
    expect(() => newId('Rev')).toThrow('is not a prefix');
    expect(uuidOf(INSTALLATION_PROJECT)).toBe('00000000-0000-7000-8000-000000000000');
  });
});
