import { idOf } from '@countersign/event-store';
import { readProject } from './commands/projects.js';
import { FORGET_OWN_SECONDS } from './credentials/lockout.js';
import type { DirectoryDeps } from './deps.js';

/**
 * Takes away what is of no use any more (decision K1: none of it is in the log). Any number of processes may do it at once.
 * Rows that no event names are left alone for a day: a command that is under way writes its row before its event.
 */
export async function sweep(deps: Pick<DirectoryDeps, 'store' | 'pool'>): Promise<void> {
  const { pool } = deps;
  const old = (column: string) => `${column} < event_store.now() - interval '1 day'`;
  await pool.query(`delete from directory.sessions where greatest(expires_at, revoked_at) < event_store.now() - interval '30 days'`);
  await pool.query(`delete from directory.sign_in_links where ${old('expires_at')}`);
  await pool.query(`delete from directory.known_devices where ${old('expires_at')}`);
  await pool.query('delete from directory.login_failures where last_failure_at < event_store.now() - make_interval(secs => $1)', [
    FORGET_OWN_SECONDS,
  ]);
  await pool.query(`delete from directory.login_failures where source like 'address:%' and ${old('last_failure_at')}`);
  await pool.query(`delete from directory.guess_levels where ${old('at')}`);
  await pool.query(
    `delete from directory.joining c where ${old('c.created_at')}
        and not exists (select from event_store.streams s where s.stream = c.project
                         and s.version is distinct from (select version from directory.projects where id = c.project))`,
  );
  // An invitation is good for 7 days; its row holds an e-mail address.
  await pool.query(`delete from directory.invitations where created_at < event_store.now() - interval '30 days'`);
  // Only where the row is up to date does it tell which credential is the current one.
  await pool.query(
    `delete from directory.key_credentials c where ${old('c.created_at')}
        and not exists (select from event_store.streams s where s.stream = c.key
                         and s.version is distinct from (select version from directory.api_keys k where k.id = c.key and k.fingerprint <> c.fingerprint))`,
  );
  await pool.query(
    `delete from directory.passwords w where ${old('w.created_at')}
        and not exists (select from event_store.streams s where s.stream = w.person
                         and s.version is distinct from (select version from directory.persons p
                                                          where p.id = w.person and p.password_fingerprint is distinct from w.fingerprint))`,
  );
  await sweepSecrets(deps);
}

/** Which secrets of a project are in force is in its stream alone. */
async function sweepSecrets(deps: Pick<DirectoryDeps, 'store' | 'pool'>): Promise<void> {
  const { rows } = await deps.pool.query<{ project: string }>(
    'select project from directory.project_secrets group by project having count(*) > 1',
  );
  for (const row of rows) {
    const found = await readProject(deps, idOf('prj', row.project));
    if (!found) continue;
    const { active, pending } = found.project.secrets;
    await deps.pool.query(
      `delete from directory.project_secrets where project = $1 and not fingerprint = any($2) and created_at < event_store.now() - interval '1 day'`,
      [row.project, pending ? [active, pending.fingerprint] : [active]],
    );
  }
}

const HOUR_MS = 3_600_000;

/** Sweeps now and every hour until closed. A sweep that fails is logged and tried again with the next. */
export function keepHouse(deps: DirectoryDeps): { close(): Promise<void> } {
  let running = Promise.resolve();
  const start = () => {
    running = running.then(() => sweep(deps)).catch((error: unknown) => deps.logger.warn({ error }, 'housekeeping failed'));
  };
  start();
  const timer = setInterval(start, HOUR_MS);
  timer.unref();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
