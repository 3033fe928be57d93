/** PostgreSQL's own load generator: a row in a transaction of its own, prepared, from so many clients. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Side } from '../figure.js';
import { BODY_TEXT, META_TEXT, TYPE } from './event.js';

const MISSING = 'pgbench was not found. It comes with PostgreSQL (Debian: apt-get install postgresql-contrib).';

export function pgbench(url: string, table: string, clients: number, folder: string): Side {
  const script = join(folder, 'pgbench.sql');
  // A colon would begin a variable of pgbench.
  const quoted = (text: string) => `'${text.replaceAll("'", "''").replaceAll(':', '=')}'`;
  writeFileSync(
    script,
    `insert into bench.${table} (stream, version, id, project, type, body, meta)
     values (uuidv7(), 1, uuidv7(), uuidv7(), ${[TYPE, BODY_TEXT, META_TEXT].map(quoted).join(', ')})`.replaceAll('\n', ' '),
  );
  const { hostname, port, username, password, pathname } = new URL(url);
  return {
    async round(seconds) {
      const whole = Math.max(1, Math.round(seconds));
      const args = ['-n', '-M', 'prepared', '-c', String(clients), '-j', '2', '-T', String(whole), '-f', script];
      const child = spawn('pgbench', [...args, '-h', hostname, '-p', port, '-U', username, pathname.slice(1)], {
        env: { ...process.env, PGPASSWORD: password },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let said = '';
      for (const output of [child.stdout, child.stderr]) output.setEncoding('utf8').on('data', (text: string) => (said += text));
      await Promise.race([once(child, 'close'), once(child, 'error').then(([error]) => Promise.reject(error))]).catch((error) => {
        throw (error as NodeJS.ErrnoException).code === 'ENOENT' ? new Error(MISSING) : error;
      });
      const rate = /^tps = ([\d.]+)/m.exec(said)?.[1];
      const latency = /^latency average = ([\d.]+) ms/m.exec(said)?.[1];
      if (rate === undefined || latency === undefined) throw new Error(`pgbench measured nothing:\n${said.slice(0, 1_000)}`);
      return { per_s: Number(rate), mean_ms: Number(latency) };
    },
    async close() {},
  };
}
