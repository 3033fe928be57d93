import { readFileSync } from 'node:fs';

/** One event of `contracts/vectors/event-hash.json`; bytes in hex, null where redaction took them. */
export interface Vector {
  id: string;
  version: number;
  position: number;
  type: string;
  schema_version: number;
  time: string;
  redacted: boolean;
  body: string | null;
  body_salt: string | null;
  meta: string;
  meta_salt: string;
  body_commitment: string;
  meta_commitment: string;
  previous_hash: string;
  header: string;
  hash: string;
}

export const vectors: { stream: string; project: string; shard: number; events: Vector[] } = JSON.parse(
  readFileSync(new URL('../../../../contracts/vectors/event-hash.json', import.meta.url), 'utf8'),
);

export const bytes = (hex: string) => Buffer.from(hex, 'hex');
