import { record, traced } from '@countersign/telemetry';
import type { DueTimer } from './due-rows.js';

/** A timer that fell due, as telemetry sees it: nobody's request, so a trace of its own, in which what it leads to goes on. */
export function observedFiring<T extends string>(timer: DueTimer, fire: () => Promise<T>): Promise<T> {
  if (timer.attempts === 0) record('timerLateness', Math.max(0, timer.lateMs) / 1_000, { 'countersign.timer.kind': timer.kind });
  const attributes = {
    'countersign.timer.kind': timer.kind,
    'countersign.stream.id': timer.stream,
    'countersign.project.id': timer.project,
    'countersign.attempt': timer.attempts + 1,
  };
  return traced(`fire ${timer.kind}`, { parent: null, attributes }, async (span) => {
    const outcome = await fire();
    span.set({ 'countersign.outcome': outcome });
    return outcome;
  });
}
