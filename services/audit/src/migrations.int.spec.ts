import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '@countersign/database';
import { defaultSets, testDatabase } from '@countersign/testing';
import { describe, expect, it } from '@jest/globals';
import { AUDIT_MIGRATIONS } from './migrations.js';

const { name, directory } = AUDIT_MIGRATIONS;

/** The first migrations alone, as an older release has them. */
async function upTo(number: number): Promise<string> {
  const older = await mkdtemp(join(tmpdir(), 'countersign-audit-'));
  const files = (await readdir(directory)).filter((file) => Number(file.slice(0, 4)) <= number);
  for (const file of files) await copyFile(join(directory, file), join(older, file));
  return older;
}

describe('an installation that counted reviews a day for the whole project', () => {
  it('counts them for each template from the first start on', async () => {
    const older = await upTo(3);
    const db = await testDatabase({ sets: [...defaultSets(), { name, directory: older }] });
    try {
      await db.ownerPool.query(
        `insert into audit.reviews (review, project, template, template_slug, status, priority, urgency, created_at, version, state)
         select 'rev_' || n, project, template, 'mail', status, 'normal', 1, at, 1, '{}'
         from (values (1, 'a', 'x', 'pending', '2026-11-30T23:59:59.999Z'::timestamptz), (2, 'a', 'x', 'decided', '2026-11-30T00:00Z'),
           (3, 'a', 'x', 'pending', '2026-12-01T00:00Z'), (4, 'a', 'y', 'archived', '2026-11-30T12:00Z'), (5, 'b', 'x', 'pending', '2026-11-30T12:00Z'),
           (6, '', '', 'erased', '1970-01-01T00:00Z')) v (n, project, template, status, at);
         insert into audit.days values ('a', '2026-11-30', 3), ('a', '2026-12-01', 1), ('b', '2026-11-30', 1)`,
      );
      await migrate(db.ownerUrl, [...defaultSets(), AUDIT_MIGRATIONS]);
      const { rows } = await db.pool.query(
        `select project, day::text, template, count::int from audit.days order by project, day, template`,
      );
      expect(rows.map((row) => Object.values(row as object).join(' '))).toEqual([
        'a 2026-11-30 x 2',
        'a 2026-11-30 y 1',
        'a 2026-12-01 x 1',
        'b 2026-11-30 x 1',
      ]);
    } finally {
      await db.close();
      await rm(older, { recursive: true });
    }
  });
});
