import { describe, expect, it } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { signatureHeaders } from './signing.js';

const ACTIVE = '000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f';
const PENDING = 'ff'.repeat(32);
const BODY = '{"type":"review.decided","text":"Grüße €"}';

describe('signatureHeaders', () => {
  it('gives the bytes another implementation gives (openssl dgst -sha256 -hmac / -macopt hexkey)', () => {
    const headers = signatureHeaders(
      { id: 'whd_01kb', timestamp: 1_796_032_800, body: Buffer.from(BODY) },
      { active: ACTIVE, pending: null },
    );
    expect(headers).toEqual({
      'X-Webhook-Signature': 'sha256=4703803e753d63bc94a14de2861ca907326749b680372f88ed3f1008dedfc049',
      'X-Webhook-Signature-V2': 't=1796032800,v1=a3d48238a5132ef0b605a3a34e5d0029dcea68c71dd53253fac76ebe7d8fa3a1',
      'webhook-id': 'whd_01kb',
      'webhook-timestamp': '1796032800',
      'webhook-signature': 'v1,YCVCsRG3QaSAD61ZUfgeKjZsFhjg4tGeGX3BtngE1pA=',
    });
  });

  it('satisfies a Standard Webhooks receiver that holds the secret as whsec_ and base64', () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const headers = signatureHeaders({ id: 'whd_01kb', timestamp, body: Buffer.from(BODY) }, { active: ACTIVE, pending: null });
    expect(receiver(ACTIVE).verify(BODY, headers)).toEqual(JSON.parse(BODY));
    expect(() => receiver(PENDING).verify(BODY, headers)).toThrow('No matching signature');
    expect(() => receiver(ACTIVE).verify(BODY.replace('Grüße', 'Grüsse'), headers)).toThrow('No matching signature');
    expect(() => receiver(ACTIVE).verify(BODY, { ...headers, 'webhook-id': 'whd_other' })).toThrow('No matching signature');
  });

  it('signs with both secrets during a rotation, and the HRP headers with the active one', () => {
    const timestamp = Math.floor(Date.now() / 1_000);
    const message = { id: 'whd_01kb', timestamp, body: Buffer.from(BODY) };
    const rotating = signatureHeaders(message, { active: ACTIVE, pending: PENDING });
    for (const secret of [ACTIVE, PENDING]) expect(receiver(secret).verify(BODY, rotating)).toEqual(JSON.parse(BODY));
    const before = signatureHeaders(message, { active: ACTIVE, pending: null });
    expect(rotating['X-Webhook-Signature']).toBe(before['X-Webhook-Signature']);
    expect(rotating['X-Webhook-Signature-V2']).toBe(before['X-Webhook-Signature-V2']);
    const promoted = signatureHeaders(message, { active: PENDING, pending: null });
    expect(promoted['X-Webhook-Signature']).not.toBe(before['X-Webhook-Signature']);
    expect(() => receiver(ACTIVE).verify(BODY, promoted)).toThrow('No matching signature');
  });
});

function receiver(secret: string): Webhook {
  return new Webhook(`whsec_${Buffer.from(secret, 'hex').toString('base64')}`);
}
