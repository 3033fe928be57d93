import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { parseNetwork, reservedRange } from './networks.js';

const LOOPBACK = [parseNetwork('127.0.0.0/8'), parseNetwork('::1')];

describe('reservedRange', () => {
  it.each([
    '0.0.0.0',
    '0.1.2.3',
    '10.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.255.255.254',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.1.1',
    '198.18.0.1',
    '198.19.255.255',
    '224.0.0.1',
    '239.255.255.255',
    '240.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::7f00:1',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'fc00::1',
    'fdff::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:a9fe:a9fe',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '64:ff9b::808:808',
    '64:ff9b:1::1',
    '2001:0:53aa:64c::1',
    '2001:db8::1',
    '2002:7f00:1::1',
    '100::1',
    'localhost',
    '',
  ])('refuses %s', (address) => {
    expect(reservedRange(address, [])).not.toBeNull();
  });

  it.each([
    '1.1.1.1',
    '8.8.8.8',
    '9.255.255.255',
    '11.0.0.0',
    '100.63.255.255',
    '100.128.0.0',
    '126.255.255.255',
    '128.0.0.0',
    '169.253.255.255',
    '169.255.0.0',
    '172.15.255.255',
    '172.32.0.0',
    '192.0.1.0',
    '192.167.255.255',
    '198.17.255.255',
    '198.20.0.0',
    '223.255.255.255',
    '2606:4700::1111',
    '2001:4860:4860::8888',
    '2003::1',
    '::ffff:8.8.8.8',
  ])('lets %s through', (address) => {
    expect(reservedRange(address, [])).toBeNull();
  });

  it('lets what the operator listed through, in its IPv6 form too, and nothing beside it', () => {
    expect(reservedRange('127.0.0.1', LOOPBACK)).toBeNull();
    expect(reservedRange('::ffff:127.0.0.1', LOOPBACK)).toBeNull();
    expect(reservedRange('::1', LOOPBACK)).toBeNull();
    expect(reservedRange('169.254.169.254', LOOPBACK)).toBe('link-local');
    expect(reservedRange('10.0.0.1', LOOPBACK)).toBe('private');
  });

  it('judges an IPv4 address and its mapped IPv6 form alike', () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(reservedRange(`::ffff:${address}`, LOOPBACK)).toBe(reservedRange(address, LOOPBACK));
      }),
    );
  });
});

describe('parseNetwork', () => {
  it.each(['localhost', '10.0.0.0/33', '', '10.0.0/8/8', 'fc00::/200'])('refuses %j and says how to write one', (text) => {
    expect(() => parseNetwork(text)).toThrow('CIDR');
  });
});
