import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { isAllowed, isAllowListEntry, networkOf } from './addresses.js';
import { ACCOUNT, ADDRESS, addressLockSeconds, ownLockSeconds, waitSeconds } from './lockout.js';
import { hashPassword, nobody, passwordFault, verifyPassword } from './password.js';
import { SealBroken, seal, unseal } from './sealing.js';
import { fingerprintOf, keyPrefix, newRawKey, newToken, RAW_KEY, tokenHash } from './tokens.js';
import { newWebhookSecret, standardSecret, WEBHOOK_SECRET } from './webhook-secret.js';

describe('raw keys and tokens', () => {
  it('have the forms of the contract', () => {
    const key = newRawKey();
    expect(key).toMatch(RAW_KEY);
    expect(keyPrefix(key)).toBe(key.slice(0, 12));
    expect(newToken('cst_')).toMatch(/^cst_[A-Za-z0-9_-]{43}$/);
    expect(newWebhookSecret()).toMatch(WEBHOOK_SECRET);
  });
  it('are fingerprinted per kind, and never by the kept value itself', () => {
    const hash = tokenHash(newRawKey());
    expect(fingerprintOf('api_key', hash)).not.toBe(fingerprintOf('password', hash));
    expect(fingerprintOf('api_key', hash)).not.toContain(hash.toString('hex'));
  });
  it('give Standard Webhooks the bytes the hex digits stand for', () => {
    expect(standardSecret('00ff'.repeat(16))).toBe(`whsec_${Buffer.from('00ff'.repeat(16), 'hex').toString('base64')}`);
  });
});

describe('sealed secrets', () => {
  const [key, other] = [randomBytes(32), randomBytes(32)];
  it('open with any configured key, in their own row only', () => {
    const sealed = seal([key], 'row a', 'hush');
    expect(sealed.includes(Buffer.from('hush'))).toBe(false);
    expect(unseal([other, key], 'row a', sealed)).toBe('hush');
    expect(() => unseal([key], 'row b', sealed)).toThrow(SealBroken);
    expect(() => unseal([other], 'row a', sealed)).toThrow(/SECRETS_KEY_PREVIOUS/);
  });
  it('never open once a bit of them changed', () => {
    const sealed = seal([key], 'row', 'hush');
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      expect(() => unseal([key], 'row', changed)).toThrow(SealBroken);
    }
    expect(() => unseal([key], 'row', Buffer.alloc(0))).toThrow(SealBroken);
    expect(() => seal([], 'row', 'hush')).toThrow(/SECRETS_KEY/);
  });
});

describe('passwords', () => {
  const cost = { ln: 10, r: 8, p: 1 };
  it('are verified with the parameters they were made with', async () => {
    const verifier = await hashPassword('a long enough secret', cost);
    expect(verifier).toMatch(/^\$scrypt\$ln=10,r=8,p=1\$/);
    expect(await verifyPassword('a long enough secret', verifier)).toBe(true);
    expect(await verifyPassword('a long enough secreT', verifier)).toBe(false);
    expect(await verifyPassword('', nobody(cost))).toBe(false);
    await expect(verifyPassword('x', 'plain')).rejects.toThrow(/unknown format/);
  });
  it('are the same however an accent is typed', async () => {
    expect(await verifyPassword('caf\u00e9 au lait noir', await hashPassword('cafe\u0301 au lait noir', cost))).toBe(true);
  });
  it.each([
    ['short', 'too_short'],
    ['elevenchars', 'too_short'],
    ['x'.repeat(129), 'too_long'],
    ['🔑'.repeat(11), 'too_short'],
    ['password1234', 'breached'],
    ['P@ssw0rd2026!', 'breached'],
    ['qwertyuiop123', 'breached'],
    ['Administrator1!', 'breached'],
    ['123456789012', 'breached'],
    ['aaaaaaaaaaaa', 'breached'],
    ['2019-04-12-1987', 'breached'],
    ['abcabcabcabc', 'breached'],
    ['abcdefghijkl', 'breached'],
    ['welcomewelcome', 'breached'],
    ['correcthorsebatterystaple', 'breached'],
    ['Countersign2026', 'breached'],
  ])('%s is refused: %s', (password, fault) => {
    expect(passwordFault(password)).toBe(fault);
  });
  it.each([
    'purple monkey dishwasher',
    'tr0ubador&3-lamp',
    'zwölf Zeichen lang',
    'kX9#mPq2vL7w',
    '🔑🐘🌧🎻🥐🧵🪐🦉🍋🧊🪴🛶',
    'x1'.padEnd(128, 'qwe8%ztu'),
  ])('%s is fine', (password) => {
    expect(passwordFault(password)).toBeNull();
  });
  it('of random letters are hardly ever taken for common ones', () => {
    const letters = fc.string({ unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789'), minLength: 12, maxLength: 20 });
    const faults = fc.sample(letters, { numRuns: 500, seed: 7 }).filter((password) => passwordFault(password) !== null);
    expect(faults.length).toBeLessThan(5);
  });
});

describe('allow-lists', () => {
  it.each([
    ['10.1.2.3', ['10.0.0.0/8'], true],
    ['11.1.2.3', ['10.0.0.0/8'], false],
    ['10.1.2.3', ['10.1.2.3'], true],
    ['::ffff:10.1.2.3', ['10.1.2.3'], true],
    ['10.1.2.3', ['::ffff:10.1.2.0/120'], true],
    ['2001:db8::1', ['2001:db8::/32'], true],
    ['2001:db9::1', ['2001:db8::/32'], false],
    ['2001:db8::1', ['0.0.0.0/0'], false],
    ['10.1.2.3', ['::/0'], false],
    ['10.1.2.3', [], false],
    ['', ['0.0.0.0/0', '::/0'], false],
    [null, ['0.0.0.0/0'], false],
    ['not an address', ['0.0.0.0/0'], false],
    ['10.1.2.3', ['nonsense'], false],
  ])('%s against %j: %s', (address, list, allowed) => {
    expect(isAllowed(address, list)).toBe(allowed);
  });
  it.each([
    ['10.0.0.0/8', true],
    ['::1', true],
    ['10.0.0.0/33', false],
    ['10.0.0.0/8/8', false],
    ['10.0/8', false],
    ['0x0a000001', false],
    ['10.0.0.0/', false],
    ['10.0.0.0/-1', false],
    ['::ffff:10.0.0.0/8', false],
    ['example.com', false],
  ])('%s as an entry: %s', (entry, good) => {
    expect(isAllowListEntry(entry)).toBe(good);
  });
  it('take any text for an address or an entry without failing', () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.string(), { maxLength: 3 }), (address, list) => {
        expect(typeof isAllowed(address, list)).toBe('boolean');
        expect(typeof networkOf(address)).toBe('string');
      }),
    );
  });
});

describe('the lockout', () => {
  it.each([
    ['203.0.113.77', '203.0.113.77'],
    ['::ffff:203.0.113.77', '203.0.113.77'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['', 'unknown'],
  ])('counts %s as %s', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
  it('climbs for a source of its own: 15 minutes, 1 hour, 24 hours', () => {
    expect([1, 4, 5, 6, 9, 10, 11, 15, 19, 20, 21, 500].map(ownLockSeconds)).toEqual([
      0, 0, 900, 0, 0, 3600, 0, 3600, 0, 86_400, 86_400, 86_400,
    ]);
  });
  it('never lasts longer than 15 minutes for an address, and leaves a busy one a guess for each account', () => {
    const failures = [1, 4, 5, 6, 10, 20, 500];
    expect(failures.map((n) => addressLockSeconds(n, ADDRESS.bound))).toEqual([0, 0, 900, 0, 900, 900, 900]);
    expect(failures.map((n) => addressLockSeconds(n, ADDRESS.bound + 1))).toEqual(failures.map(() => 900));
  });
  it('cannot be brought about for a whole account by one address', () => {
    expect(5 / (15 * 60)).toBeLessThan(ACCOUNT.perSecond);
    expect(waitSeconds(ACCOUNT.bound - 1, ACCOUNT)).toBe(0);
    expect(waitSeconds(ACCOUNT.bound, ACCOUNT)).toBe(120);
  });
});
