import type { Readiness, ReadyReply, ServiceName } from '@countersign/contracts';
import type { ReadyCheck, ServiceClient } from '@countersign/http';
import type { Pool } from 'pg';

const PATIENCE_MS = 2_000;

/**
 * Whether requests can be served (K20): the gateway's own process and database and every service, asked at once. A part that can be done
 * without for a while makes it `degraded` and still ready.
 */
export async function readiness(parts: {
  client: ServiceClient;
  pool: Pool;
  /** Of this process, as its host knows it. */
  own: () => Promise<Record<string, ReadyCheck>>;
  services: readonly ServiceName[];
  requestId: string;
}): Promise<{ ready: boolean; body: Omit<Readiness, 'timestamp'> }> {
  const [own, ...answers] = await Promise.all([
    ownChecks(parts.own),
    databaseCheck(parts.pool),
    ...parts.services.map(async (service) => [service, await serviceCheck(parts.client, service, parts.requestId)] as const),
  ]);
  const all = [...own, ...answers];
  const checks = Object.fromEntries(all.map(([name, { ok, detail }]) => [name, { ok, ...(detail ? { detail } : {}) }]));
  const ready = all.every(([, check]) => check.ok || check.serves);
  return { ready, body: { status: all.every(([, check]) => check.ok) ? 'ready' : 'degraded', checks } };
}

interface Check {
  ok: boolean;
  /** Not all well, but requests are served. */
  serves: boolean;
  detail?: string;
}

/** Without the host's own look at the database: `databaseCheck` asks the same one for more. */
async function ownChecks(own: () => Promise<Record<string, ReadyCheck>>): Promise<(readonly [string, Check])[]> {
  const { database: _, ...checks } = await own();
  return Object.entries<ReadyCheck>(checks).map(([name, { ok, required, detail }]) => [
    name,
    { ok, serves: ok || required === false, detail },
  ]);
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
