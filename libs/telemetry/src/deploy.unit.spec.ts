/** What is deployed beside the product speaks of metrics, pages and log lines that exist. */
import { globSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { METRICS, type MetricDeclaration, prometheusLabel, prometheusSeries } from './index.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const read = (path: string): string => readFileSync(`${ROOT}${path}`, 'utf8');

interface Rule {
  alert: string;
  expr: string;
  labels: { severity: string };
  annotations: { summary: string; runbook_url: string };
}
const rules = (parse(read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap((group) => group.rules);

interface Panel {
  type: string;
  title: string;
  targets?: { expr: string; legendFormat: string }[];
}
const panels = (JSON.parse(read('deploy/grafana/countersign.json')) as { panels: Panel[] }).panels.filter(({ type }) => type !== 'row');

/** Series → the labels it may have. */
const SERIES = new Map(
  Object.values<MetricDeclaration>(METRICS).flatMap((metric) =>
    prometheusSeries(metric).map((series) => {
      const labels = Object.keys(metric.attributes).map(prometheusLabel);
      return [series, new Set([...labels, ...(series.endsWith('_bucket') ? ['le'] : []), 'job', 'instance'])] as const;
    }),
  ),
);
const ALL_LABELS = new Set([...SERIES.values()].flatMap((labels) => [...labels]));
const WORDS = new Set(['by', 'without', 'and', 'or', 'unless', 'on', 'ignoring', 'bool', 'offset']);

/** What an expression names that is not in the catalogue: series, and labels none of its series has. */
function unknownIn(expr: string): string[] {
  const labels = new Set<string>();
  const bare = expr
    .replaceAll(/"[^"]*"/g, '""')
    .replaceAll(/\$\w+/g, '5m')
    .replaceAll(/\{([^}]*)\}/g, (_, matchers: string) => {
      for (const [, label] of matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)) labels.add(label as string);
      return '';
    })
    .replaceAll(/\b(?:by|without)\s*\(([^)]*)\)/g, (_, list: string) => {
      for (const label of list.split(',')) labels.add(label.trim());
      return '';
    })
    .replaceAll(/\[[^\]]*\]/g, '');
  const names = [...bare.matchAll(/\b[a-z_][a-z0-9_]*\b(?!\s*\()/gi)].map(([name]) => name).filter((name) => !WORDS.has(name));
  const known = names.flatMap((name) => SERIES.get(name) ?? []);
  const strange = [...labels].filter((label) => label !== '' && !known.some((has) => has.has(label)));
  if (names.length === 0) return ['an expression without a metric'];
  return [...names.filter((name) => !SERIES.has(name)), ...strange];
}

describe('what is deployed beside the product', () => {
  it('is held against the catalogue by a check that can fail', () => {
    expect(unknownIn('sum by (countersign_group) (countersign_consumer_lag) > 0')).toEqual([]);
    expect(unknownIn('sum by (countersign_group) (rate(countersign_consumer_events[5m]))')).toEqual([
      'countersign_consumer_events',
      'countersign_group',
    ]);
    expect(unknownIn('countersign_consumer_lag{project_id="x"}')).toEqual(['project_id']);
    expect(unknownIn('sum by (tenant) (countersign_consumer_lag)')).toEqual(['tenant']);
    expect(unknownIn('sum by (le) (countersign_consumer_lag)')).toEqual(['le']);
    expect(unknownIn('vector(1)')).not.toEqual([]);
  });

  it.each(rules.map((rule) => [rule.alert, rule] as const))(
    'alert %s asks for metrics that exist and names its page',
    (_, { expr, annotations, labels }) => {
      expect(unknownIn(expr)).toEqual([]);
      expect(read(annotations.runbook_url)).toMatch(/^# .+\n\n\*\*Symptom\.\*\* /);
      expect(annotations.summary).toMatch(/\.$/);
      expect(['page', 'warn']).toContain(labels.severity);
      const used = [...annotations.summary.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label as string);
      expect(used.filter((label) => !expr.includes(label))).toEqual([]);
    },
  );

  it.each(panels.map((panel) => [panel.title, panel] as const))('panel %s shows metrics that exist', (_, { targets = [] }) => {
    expect(targets.flatMap(({ expr }) => unknownIn(expr))).toEqual([]);
    for (const { expr, legendFormat } of targets) {
      for (const [, label] of legendFormat.matchAll(/\{\{(\w+)\}\}/g)) expect(expr).toContain(label);
    }
  });

  it('shows every metric on the dashboard', () => {
    const shown = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr)).join('\n');
    const missing = Object.values<MetricDeclaration>(METRICS).filter(
      (metric) => !prometheusSeries(metric).some((series) => shown.includes(series)),
    );
    expect(missing.map(({ name }) => name)).toEqual(['nodejs.eventloop.delay.p50']);
  });

  it('has a runbook for each alert, listed, and none besides', () => {
    const pages = readdirSync(`${ROOT}docs/runbooks`).filter((page) => page !== 'README.md');
    expect(new Set(rules.map(({ annotations }) => annotations.runbook_url))).toEqual(new Set(pages.map((page) => `docs/runbooks/${page}`)));
    for (const page of pages) expect(read('docs/runbooks/README.md')).toContain(`](${page})`);
    for (const page of pages) {
      for (const alert of rules.filter(({ annotations }) => annotations.runbook_url.endsWith(`/${page}`))) {
        expect(read(`docs/runbooks/${page}`)).toContain(`\`${alert.alert}\``);
      }
      for (const [, link] of read(`docs/runbooks/${page}`).matchAll(/\]\(([a-z-]+\.md)\)/g)) expect(pages).toContain(link);
    }
  });

  it('quotes log lines, spans, metrics and settings that the product has', () => {
    const sources = globSync(['libs/*/src/**/*.ts', 'services/*/src/**/*.ts', 'docs/configuration.md'], { cwd: ROOT })
      .filter((path) => !path.includes('.spec.'))
      .map(read)
      .join('\n');
    /** PostgreSQL's own word. */
    const foreign = new Set(['idle in transaction']);
    for (const page of readdirSync(`${ROOT}docs/runbooks`)) {
      const quoted = [...read(`docs/runbooks/${page}`).matchAll(/`([^`]+)`/g)].map(([, text]) => (text as string).replaceAll(/\s+/g, ' '));
      const lines = quoted.filter(
        (text) => /^[a-z][a-z ,:]+(?: …)?$/i.test(text) && text.includes(' ') && !foreign.has(text) && !text.startsWith('npx '),
      );
      const commands = quoted
        .flatMap((text) => /^npx countersign (\w+)(?: (list|unpark|create|unlock))?/.exec(text)?.slice(1) ?? [])
        .filter((word) => word !== undefined);
      const unknown = commands.filter((command) => !sources.includes(`.command('${command}')`));
      const settings = quoted.filter((text) => /^[A-Z]+(?:_[A-Z]+)+$/.test(text));
      const metrics = quoted.filter((text) => /^countersign_\w+$/.test(text));
      const missing = [...lines.map((text) => text.replace(/ …$/, '')), ...settings].filter((text) => !sources.includes(text));
      expect([page, ...missing, ...unknown, ...metrics.filter((name) => !SERIES.has(name) && !ALL_LABELS.has(name))]).toEqual([page]);
    }
  });
});
