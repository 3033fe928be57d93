import { METRICS, type MetricDeclaration } from './catalogue.js';

const UNITS: Record<string, string> = { s: 'seconds', By: 'bytes' };

/** An attribute's name as Prometheus has it. */
export const prometheusLabel = (attribute: string): string => attribute.replaceAll(/\W/g, '_');

/** The series a metric becomes in Prometheus, as its OTLP receiver and the collector's exporters name them. */
export function prometheusSeries({ name, unit, kind }: Pick<MetricDeclaration, 'name' | 'unit' | 'kind'>): string[] {
  const suffix = UNITS[unit];
  const base = suffix === undefined ? prometheusLabel(name) : `${prometheusLabel(name)}_${suffix}`;
  if (kind === 'histogram') return ['_bucket', '_sum', '_count'].map((part) => `${base}${part}`);
  return [kind === 'counter' ? `${base}_total` : base];
}

/** The Markdown table of the docs, in the catalogue's order. */
export function describeMetrics(): string {
  const rows = Object.values<MetricDeclaration>(METRICS).map((metric) => {
    const [series] = prometheusSeries(metric);
    const attributes = Object.entries(metric.attributes).map(([name, values]) => `\`${name}\`: ${values}`);
    const cells = [`\`${metric.name}\``, metric.kind, metric.unit, `\`${series}\``, metric.description, attributes.join('<br>')];
    return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  });
  return ['| Metric | Kind | Unit | In Prometheus | Meaning | Attributes |', '|---|---|---|---|---|---|', ...rows, ''].join('\n');
}
