/** The middle of some numbers, with the lowest and the highest. */
export interface Spread {
  median: number;
  low: number;
  high: number;
}

/** @throws {Error} when there is nothing, or something that is no number. */
export function spreadOf(values: readonly number[]): Spread {
  if (values.length === 0 || values.some((value) => !Number.isFinite(value))) throw new Error(`No spread of [${values.join(', ')}].`);
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number) => sorted[index] as number;
  const middle = sorted.length >> 1;
  return {
    median: sorted.length % 2 === 1 ? at(middle) : (at(middle - 1) + at(middle)) / 2,
    low: at(0),
    high: at(sorted.length - 1),
  };
}
