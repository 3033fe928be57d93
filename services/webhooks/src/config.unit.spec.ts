import { loadConfig } from '@countersign/config';
import { EGRESS_SETTINGS } from '@countersign/egress';
import { describe, expect, it } from '@jest/globals';
import { WEBHOOK_SETTINGS } from './config.js';

const load = (env: Record<string, string> = {}) => loadConfig({ webhooks: WEBHOOK_SETTINGS, egress: EGRESS_SETTINGS }, env);

describe('the settings', () => {
  it('are those of decision 11 when nothing is set', () => {
    const { webhooks, egress } = load();
    expect(webhooks.backoff.map((ms) => ms / 1_000)).toEqual([5, 30, 120, 600, 1_800, 7_200, 21_600, 43_200]);
    expect(webhooks).toMatchObject({ jitterPercent: 10, headersTimeout: 10_000, bodyTimeout: 30_000 });
    expect(egress.allowNetworks).toEqual([]);
  });

  it('refuse a lease a slow attempt could outlive', () => {
    expect(() => load({ WEBHOOK_LEASE: '45s' })).toThrow('WEBHOOK_LEASE must exceed');
    expect(load({ WEBHOOK_LEASE: '50s' }).webhooks.lease).toBe(50_000);
  });

  it('refuse a network that is none, and say how to write one', () => {
    expect(() => load({ WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8, localhost' })).toThrow('"localhost" is not a valid network');
    expect(load({ WEBHOOK_ALLOW_NETWORKS: '10.0.0.0/8,::1' }).egress.allowNetworks).toEqual(['10.0.0.0/8', '::1']);
  });
});
