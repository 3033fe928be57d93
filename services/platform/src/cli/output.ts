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

/** Where a command writes; a terminal when `isTTY`. */
export interface Streams {
  stdout: NodeJS.WritableStream;
  stderr: NodeJS.WritableStream & { isTTY?: boolean };
}

export function outputTo(json: boolean, { stdout, stderr }: Streams = process): Output {
  return {
    json,
    answer(value, lines) {
      stdout.write(`${json ? JSON.stringify(value) : lines().join('\n')}\n`);
    },
    note(line) {
      if (!json) stderr.write(`${line}\n`);
    },
    progress(label) {
      if (json || !stderr.isTTY) return { update() {}, stop() {} };
      const bar = new cliProgress.SingleBar({
        format: `${label} {bar} {percentage} % · {value}/{total} · {eta_formatted} left`,
        stream: stderr,
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
