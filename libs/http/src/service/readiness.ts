/** One thing a service needs. A part it can do without for a while (Kafka) is not `required`: it degrades, decisions go on (K20). */
export interface ReadyCheck {
  ok: boolean;
  /** True when omitted. */
  required?: boolean;
  detail?: string;
}

export interface ReadyReport {
  status: 'ready' | 'degraded' | 'unready';
  checks: Record<string, ReadyCheck>;
}

/** A check that throws is a check that failed; its message is not told, since it may name hosts. */
export async function readyReport(ready: () => Promise<Record<string, ReadyCheck>>): Promise<ReadyReport> {
  let checks: Record<string, ReadyCheck>;
  try {
    checks = await ready();
  } catch {
    checks = { service: { ok: false, detail: 'The checks themselves failed.' } };
  }
  return { status: statusOf(Object.values(checks)), checks };
}

function statusOf(checks: readonly ReadyCheck[]): ReadyReport['status'] {
  const failed = checks.filter((check) => !check.ok);
  if (failed.some((check) => check.required !== false)) return 'unready';
  return failed.length > 0 ? 'degraded' : 'ready';
}
