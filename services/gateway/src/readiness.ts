import type { Readiness, ReadyReply, ServiceName } from '@countersign/contracts';
import type { ServiceClient } from '@countersign/http';
import type { Pool } from 'pg';

const PATIENCE_MS = 2_000;

/**
 * Whether requests can be served (K20): the gateway's own database and every service, asked at once. A part that a service can do without for
 * a while makes it `degraded` and still ready.
 */
export async function readiness(parts: {
  client: ServiceClient;
  pool: Pool;
  services: readonly ServiceName[];
  requestId: string;
}): Promise<{ ready: boolean; body: Omit<Readiness, 'timestamp'> }> {
  const answers = await Promise.all([
    databaseCheck(parts.pool),
    ...parts.services.map(async (service) => [service, await serviceCheck(parts.client, service, parts.requestId)] as const),
  ]);
  const checks = Object.fromEntries(answers.map(([name, { ok, detail }]) => [name, { ok, ...(detail ? { detail } : {}) }]));
  const ready = answers.every(([, check]) => check.ok || check.serves);
  return { ready, body: { status: answers.every(([, check]) => check.ok) ? 'ready' : 'degraded', checks } };
}

interface Check {
  ok: boolean;
  /** Not all well, but requests are served. */
  serves: boolean;
  detail?: string;
}

async function databaseCheck(pool: Pool): Promise<readonly [string, Check]> {
  try {
    await pool.query('select 1 from gateway.rate_limits limit 0');
    return ['database', { ok: true, serves: true }];
  } catch {
    return ['database', { ok: false, serves: false, detail: 'Unreachable or not migrated.' }];
  }
}

async function serviceCheck(client: ServiceClient, service: ServiceName, requestId: string): Promise<Check> {
  try {
    const { body } = await client.call<ReadyReply>(service, {
      method: 'GET',
      path: '/internal/ready',
      actor: { kind: 'anonymous' },
      request_id: requestId,
      deadlineMs: PATIENCE_MS,
    });
    const failed = Object.entries(body.checks).flatMap(([name, check]) =>
      check.ok ? [] : [check.detail ? `${name}: ${check.detail}` : name],
    );
    return { ok: body.status === 'ready', serves: body.status !== 'unready', ...(failed.length > 0 ? { detail: failed.join('; ') } : {}) };
  } catch {
    return { ok: false, serves: false, detail: 'Not responding.' };
  }
}
