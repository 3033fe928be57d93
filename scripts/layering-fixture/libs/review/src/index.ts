import { randomUUID } from 'node:crypto'; // rules-are-pure
import type { Pool } from 'pg'; // no-database-here

export const pool: Pool | string = randomUUID();
