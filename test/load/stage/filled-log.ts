/** A log with as many streams as a figure needs, appended through the store as the services do, at full speed. */
import { CATEGORY_PREFIXES, validateEvent } from '@countersign/contracts';
import { APP_ROLE, createPool } from '@countersign/database';
import { type DomainEvent, type EventMeta, newId, PostgresEventStore } from '@countersign/event-store';

const CALLERS = 512;
const TELL_EVERY = 50_000;

interface Varied {
  /** What one of the streams has that the others have not. */
  vary?(events: DomainEvent[], nth: number): DomainEvent[];
  onProgress?(done: number): void;
}

export interface Filling extends Varied {
  database: string;
  /** A review whose events are those of all others: what the product itself wrote. */
  model: string;
  reviews: number;
}

export interface FillingWith extends Varied {
  database: string;
  streams: number;
  events: DomainEvent[];
  meta: EventMeta;
  project?: string;
}

const open = (database: string) => {
  const pool = createPool({ connectionString: database, role: APP_ROLE, max: 2 });
  const store = new PostgresEventStore({ pool, writer: 'intake', categories: CATEGORY_PREFIXES, validate: validateEvent });
  return { pool, store };
};

export async function fillLog({ database, model, reviews, ...varied }: Filling): Promise<void> {
  const { pool, store } = open(database);
  const { events, project } = await store.readStream(model);
  await store.close();
  await pool.end();
  const meta = events[0]?.meta;
  if (project === null || meta === undefined) throw new Error(`There is no review ${model}.`);
  const plain = events.map(({ type, body, schemaVersion }) => ({ type, body, schemaVersion }));
  await fillWith({ database, streams: reviews, events: plain, meta, project, ...varied });
}

export async function fillWith(filling: FillingWith): Promise<void> {
  const { database, streams, events, meta, project = newId('prj'), vary, onProgress } = filling;
  const { pool, store } = open(database);
  try {
    let left = streams;
    await Promise.all(
      Array.from({ length: CALLERS }, async () => {
        while (left > 0) {
          if (--left % TELL_EVERY === 0) onProgress?.(streams - left);
          const varied = vary?.(events, left) ?? events;
          const { status } = await store.append({ streams: [{ stream: newId('rev'), project, expectedVersion: 0, events: varied }], meta });
          if (status !== 'appended') throw new Error(`An append was answered ${status}.`);
        }
      }),
    );
  } finally {
    await store.close();
    await pool.end();
  }
}
