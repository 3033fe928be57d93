import { describe, expect, it } from '@jest/globals';
import { describeMetrics, METRICS, type MetricDeclaration, prometheusLabel, prometheusSeries } from './index.js';

describe('the catalogue', () => {
  const all = Object.values<MetricDeclaration>(METRICS);

  it('has each name once, ours under one prefix, and words for everything', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length);
    expect(new Set(all.flatMap(prometheusSeries)).size).toBe(all.flatMap(prometheusSeries).length);
    for (const { name, description, unit, kind, buckets } of all) {
      expect(name).toMatch(/^(countersign|http\.server|db\.client|nodejs)\.[a-z0-9_.]+$/);
      expect(description).toMatch(/\.$/);
      expect(unit).toMatch(/^(s|\{[a-z]+\})$/);
      expect(buckets === undefined).toBe(kind !== 'histogram');
      if (buckets) expect([...buckets].sort((a, b) => a - b)).toEqual(buckets);
    }
  });

  it('M1 has no attribute whose values grow with use', () => {
    const attributes = new Set(all.flatMap(({ attributes }) => Object.keys(attributes)));
    expect([...attributes].filter((name) => /\b(id|ids|stream|host|address|url|path|key)$/.test(name))).toEqual([]);
  });

  it('is named as Prometheus names it', () => {
    expect(prometheusSeries(METRICS.httpRequests)[0]).toBe('http_server_request_duration_seconds_bucket');
    expect(prometheusSeries(METRICS.appends)).toEqual(['countersign_append_requests_total']);
    expect(prometheusSeries(METRICS.consumerLag)).toEqual(['countersign_consumer_lag']);
    expect(prometheusSeries(METRICS.oldestPending)).toEqual(['countersign_review_oldest_pending_age_seconds']);
    expect(prometheusLabel('http.response.status_code')).toBe('http_response_status_code');
    for (const { name } of all) expect(describeMetrics()).toContain(`| \`${name}\` |`);
  });
});
