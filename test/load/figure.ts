/**
 * What a figure of docs/performance.md is made of.
 *
 * F1 Sides (ours and what it is held against) do their rounds in turn, in one run, and another one begins each round: whatever slows the
 *    machine for a while slows them all.
 * F2 A claim is judged by the median of its value over the rounds, and shown with the lowest and the highest.
 * F3 What was sampled stays in docs/performance.json: a reader can judge again.
 */

/** What one side did in one round, by measure. The end of a measure's name is its unit: `per_s`, `p99_ms`, `rss_mb`, `cpu_percent`, `ready_s`, `late_count`. */
export type Sample = Readonly<Record<string, number>>;
/** Sample of each side. */
export type Round = Readonly<Record<string, Sample>>;

export interface Side {
  /** @param seconds how long a round is meant to take; what has to be done once takes as long as it takes. */
  round(seconds: number): Promise<Sample>;
  close(): Promise<void>;
}

export type Unit = '×' | 'ms' | 's' | '/s' | 'MB' | '%' | '';

/** Something that is to hold. */
export interface Claim {
  what: string;
  unit: Unit;
  value(round: Round): number;
  better: 'more' | 'less';
  /** Without one the value is only shown. */
  required?: number;
  goal?: number;
}

export interface Stage {
  /** A folder for the figure's data; it goes when the figure is done. */
  folder: string;
  /** OTLP endpoint that takes whatever it is sent. */
  telemetry: string;
  /** Length of a round: what is filled beforehand is filled for that. */
  seconds: number;
  /** How long the long load of a figure takes, in minutes. */
  minutes: number;
  /** Tells whoever waits what is being done. */
  say(text: string): void;
}

export interface Running {
  sides: Record<string, Side>;
  /** Before each side's round, outside of what is measured. */
  settle?(): Promise<void>;
  /** After the sides are closed. */
  close(): Promise<void>;
}

export interface Figure {
  name: string;
  title: string;
  /** What ran, and where what is measured ran. */
  topology: string;
  beside: string;
  claims: readonly Claim[];
  /** Length of a round where the command does not say: 5 when omitted. */
  seconds?: number;
  /** Fewer rounds than five where one of them takes minutes. */
  rounds?: number;
  /** Whether each side does a round first that does not count; yes when omitted. */
  warmUp?: boolean;
  open(stage: Stage): Promise<Running>;
}

/** A measure of a side that has to be there. @throws {Error} when the side did not measure it. */
export function measured(round: Round, side: string, measure: string): number {
  const value = round[side]?.[measure];
  if (value === undefined) throw new Error(`${side} measured no ${measure}.`);
  return value;
}

/** One side's measure as a share of another's. */
export const ratio =
  (measure: string, side: string, beside: string) =>
  (round: Round): number =>
    measured(round, side, measure) / measured(round, beside, measure);

const UNITS: Record<string, string> = { per_s: '/s', ms: ' ms', s: ' s', mb: ' MB', percent: ' %', count: '' };

/** The unit a measure's name ends with. @throws {Error} for a name that ends with none. */
export function unitOf(measure: string): string {
  const unit = UNITS[/(per_s|[a-z]+)$/.exec(measure)?.[1] ?? ''];
  if (unit === undefined) throw new Error(`The measure ${measure} does not end with its unit.`);
  return unit;
}
