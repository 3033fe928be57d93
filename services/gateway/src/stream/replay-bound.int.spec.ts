/** A replay reads at most 100,000 events, whoever they are told to; from further back there is one `reset`. At full size, on PostgreSQL. */
import { newId, uuidOf } from '@countersign/event-store';
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { append, claimed, requested } from '../fixture/stream.js';
import { KEY, StreamStage } from '../fixture/stream-stage.js';
import { placeOf } from './frame-id.js';

jest.setTimeout(300_000);

const MOST = 100_000;

let stage: StreamStage;
beforeAll(async () => {
  stage = await StreamStage.start();
});
afterAll(async () => {
  stage.reset();
  await stage.close();
});

it('H2 is as far back as 100,000 events, most of them not for this client; past that it begins anew and goes on', async () => {
  const template_id = newId('tpl');
  stage.keyOf({ template_ids: [template_id] });
  const visible = async () => {
    const review = newId('rev');
    await append(stage.edge.store, stage.project, review, requested({ template_id }));
    return review;
  };
  const fromBefore = await stage.listen(KEY);
  const first = await visible();
  await fromBefore.until((l) => l.of(first).length === 1, 'the first');
  const [before, atFirst] = [fromBefore.frames[0]?.id ?? '', fromBefore.lastId];
  fromBefore.close();

  // With the first and the last review exactly as many as are read.
  const hidden = newId('rev');
  await append(stage.edge.store, stage.project, hidden, requested(), claimed());
  await copyLastEvent(hidden, MOST - 4);
  const last = await visible();
  await told();
  for (const [id, expected] of [
    [before, [first, last]],
    [atFirst, [last]],
  ] as const) {
    const listener = await stage.listen(KEY, { 'last-event-id': id });
    await listener.until((l) => l.of(last).length === 1, 'what it missed');
    expect(listener.frames.slice(1).map(({ data }) => 'review_id' in data && data.review_id)).toEqual(expected);
    listener.close();
  }

  const beyond = await visible();
  await told();
  for (const id of [before, atFirst]) {
    const listener = await stage.listen(KEY, { 'last-event-id': id });
    await listener.until((l) => l.frames.length === 2, 'the reset');
    expect(listener.types()).toEqual(['open', 'reset']);
    const now = await visible();
    await listener.until((l) => l.of(now).length === 1, 'what happens from there on');
    const again = await stage.listen(KEY, { 'last-event-id': listener.frames[1]?.id ?? '' });
    await again.until((l) => l.of(now).length === 1, 'the same, replayed from the reset');
    for (const one of [listener, again]) {
      expect(one.of(beyond)).toEqual([]);
      one.close();
    }
  }
});

/** Event by event through the append this would take minutes; how they got there is nothing to the reader. */
async function copyLastEvent(stream: string, copies: number): Promise<void> {
  const client = await stage.edge.db.ownerPool.connect();
  try {
    await client.query('begin');
    const head = await client.query<{ position: number }>('select position from event_store.head for no key update');
    const position = Number(head.rows[0]?.position);
    const inserted = await client.query(
      `insert into event_store.events select (jsonb_populate_record(e, jsonb_build_object(
         'position', $2::bigint + n, 'version', e.version + n, 'id', uuidv7()))).*
       from (select * from event_store.events where stream = $1 order by version desc limit 1) e, generate_series(1, $3::integer) n`,
      [uuidOf(stream), position, copies],
    );
    expect(inserted.rowCount).toBe(copies);
    await client.query('update event_store.streams set version = version + $2, last_position = $3 where stream = $1', [
      uuidOf(stream),
      copies,
      position + copies,
    ]);
    await client.query('update event_store.head set position = $1', [position + copies]);
    await client.query(`notify event_store`);
    await client.query('commit');
  } finally {
    client.release();
  }
}

/** Until the gateway has told everything: a stream opens where the gateway is. */
async function told(): Promise<void> {
  const { position } = await stage.edge.store.head();
  for (let reached = 0; reached < position; ) {
    const listener = await stage.listen(KEY);
    reached = placeOf(listener.lastId)?.position ?? 0;
    listener.close();
  }
}
