/** A judge that finds nothing proves nothing: each of these lines, changed in the sources as they are loaded, has to be found. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { played } from './played.js';

interface Bug {
  name: string;
  /** Source, the text in it that is changed, and to what. */
  file: string;
  from: string;
  to: string;
  /** Checks that show it: at least one of them has to. */
  found: string[];
}

const BUGS = JSON.parse(readFileSync(new URL('bugs.json', import.meta.url), 'utf8')) as Bug[];
/** A fraction of what every run plays. */
const SCHEDULES = 20_000;
const LIMIT_MS = 15 * 60_000;

describe('is found within the schedules of every run:', () => {
  it.each(BUGS.map(({ name }, bug) => [name, bug] as const))(
    '%s',
    async (_, bug) => {
      const { report } = await played([`--schedules=${SCHEDULES}`], bug);
      const checks = (report.wrong?.faults ?? []).map(({ check }) => check);
      expect(checks.filter((check) => BUGS[bug]?.found.includes(check))).not.toEqual([]);
    },
    LIMIT_MS,
  );
});
