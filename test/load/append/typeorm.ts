/** What an application of TypeORM writes: `save` of an entity, from a pool of 16. */

import { newId, uuidOf } from '@countersign/event-store';
import { DataSource, EntitySchema } from 'typeorm';
import type { Side } from '../figure.js';
import { closedLoop } from '../measure/callers.js';
import { BODY_TEXT, META_TEXT, TYPE } from './event.js';

interface Row {
  position?: string;
  stream: string;
  version: number;
  id: string;
  project: string;
  time?: Date;
  type: string;
  body: string;
  meta: string;
}

const TABLE = new EntitySchema<Row>({
  name: 'typeorm',
  schema: 'bench',
  tableName: 'typeorm',
  columns: {
    position: { type: 'bigint', primary: true, generated: true },
    stream: { type: 'uuid' },
    version: { type: 'integer' },
    id: { type: 'uuid' },
    project: { type: 'uuid' },
    time: { type: 'timestamptz', createDate: true },
    type: { type: 'text' },
    body: { type: 'text' },
    meta: { type: 'text' },
  },
});

export async function start({ url, callers }: { url: string; callers: number }): Promise<Side> {
  const source = await new DataSource({ type: 'postgres', url, entities: [TABLE], poolSize: 16 }).initialize();
  const rows = source.getRepository(TABLE);
  const uuid = () => uuidOf(newId('evt'));
  return {
    round: (seconds) =>
      closedLoop(callers, seconds, () =>
        rows.save({ stream: uuid(), version: 1, id: uuid(), project: uuid(), type: TYPE, body: BODY_TEXT, meta: META_TEXT }),
      ),
    close: () => source.destroy(),
  };
}
