/** MODEL_SCHEDULES and MODEL_SEED play more, and others. */
import { REVIEW_EVENTS } from '@countersign/contracts';
import { describe, expect, it } from '@jest/globals';
import { played, type Report } from './played.js';

const SCHEDULES = Number(process.env.MODEL_SCHEDULES ?? 100_000);
const SEED = Number(process.env.MODEL_SEED ?? 1);
/** Two at a time, for two cores. */
const PROCESSES = 2;
const LIMIT_MS = 30 * 60_000 + SCHEDULES * 20;

/** What nobody was ever told, no schedule has tried. */
const TOLD = [
  ...['ok', 'review_already_decided', 'review_expired', 'review_already_held', 'requester_cannot_approve', 'version_mismatch'],
  ...['payload_digest_mismatch', 'review_awaiting_changes', 'request_changes_not_allowed', 'field_not_editable', 'unknown', 'unavailable'],
].map((code) => `act ${code}`);
const ALSO_TOLD = [
  ...['request idempotency_key_reused', 'request idempotency_key_terminal_conflict', 'request unknown', 'resubmit version_mismatch'],
  ...['redeem ok', 'redeem already_redeemed', 'redeem digest_mismatch', 'redeem approval_expired', 'execution ok', 'withdraw ok'],
  ...[
    'release not_holder',
    'force_claim ok',
    'force_claim forbidden',
    'agent_act human_actor_required',
    'agent_claim human_actor_required',
  ],
  ...['slug ok', 'slug slug_already_exists'],
];

function sum(reports: Report[], of: 'said' | 'types'): Map<string, number> {
  const total = new Map<string, number>();
  for (const report of reports) for (const [name, n] of Object.entries(report[of])) total.set(name, (total.get(name) ?? 0) + n);
  return total;
}

describe('the review, its timers, the relay and the consumers', () => {
  it(
    'keep their promises in every order',
    async () => {
      const share = Math.ceil(SCHEDULES / PROCESSES);
      const runs = Array.from({ length: PROCESSES }, (_, n) => played([`--schedules=${share}`, `--seed=${SEED + n * share}`]));
      const done = await Promise.all(runs);
      for (const { report, output } of done) if (report.wrong) throw new Error(`${JSON.stringify(report.wrong)}\n${output}`);
      const reports = done.map(({ report }) => report);
      expect(reports.reduce((total, { schedules }) => total + schedules, 0)).toBeGreaterThanOrEqual(SCHEDULES);
      const [types, said] = [sum(reports, 'types'), sum(reports, 'said')];
      expect([...Object.keys(REVIEW_EVENTS)].filter((type) => !types.has(type))).toEqual([]);
      expect([...TOLD, ...ALSO_TOLD].filter((one) => !said.has(one))).toEqual([]);
    },
    LIMIT_MS,
  );

  it(
    'play the same story from the same seed, alone or after others',
    async () => {
      const [alone, after] = await Promise.all([
        played(['--schedules=1', '--seed=60', '--trace']),
        played(['--schedules=20', '--seed=41', '--trace']),
      ]);
      expect(alone.output.split('\n').length).toBeGreaterThan(50);
      expect(after.output).toBe(alone.output);
    },
    LIMIT_MS,
  );
});
