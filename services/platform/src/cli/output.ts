import cliProgress from 'cli-progress';

/** How a command answers: text for a person, or with `--json` one JSON document on standard output and nothing else there. */
export interface Output {
  json: boolean;
  /** The command's answer. `lines` is called only when a person reads it. */
  answer(value: unknown, lines: () => string[]): void;
  /** A remark for a person, on standard error; not part of the answer. */
  note(line: string): void;
  /** A bar on standard error where a person watches, else nothing. Begins when the total is known. */
  progress(label: string): { update(done: number, total: number): void; stop(): void };
}

export function outputTo(json: boolean): Output {
  return {
    json,
    answer(value, lines) {
      process.stdout.write(`${json ? JSON.stringify(value) : lines().join('\n')}\n`);
    },
    note(line) {
      if (!json) process.stderr.write(`${line}\n`);
    },
    progress(label) {
      if (json || !process.stderr.isTTY) return { update() {}, stop() {} };
      const bar = new cliProgress.SingleBar({
        format: `${label} {bar} {percentage} % · {value}/{total} · {eta_formatted} left`,
        stream: process.stderr,
        hideCursor: true,
      });
      let started = false;
      return {
        update(done, total) {
          if (!started) bar.start(total, done);
          else bar.setTotal(total);
          started = true;
          bar.update(done);
        },
        stop() {
          if (started) bar.stop();
        },
      };
    },
  };
}

/** Rows under their headings, columns as wide as they need to be. */
export function table(headings: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  const cells = [headings, ...rows].map((row) => row.map((cell) => (cell === null || cell === undefined ? '–' : String(cell))));
  const widths = headings.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
