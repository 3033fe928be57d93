/** A replay reads so many events at most, whoever they are told to; from further back there is one `reset`. */
import { newId } from '@countersign/event-store';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { append, claimed, requested } from '../fixture/stream.js';
import { KEY, StreamStage } from '../fixture/stream-stage.js';
import { placeOf } from './frame-id.js';
import { REPLAY_EVENTS } from './hub.js';

/** Some pages of the store, and not a whole number of them. */
const MOST = 1_900;

let stage: StreamStage;
beforeAll(async () => {
  stage = await StreamStage.start({ replayEvents: MOST });
});
afterAll(async () => {
  stage.reset();
  await stage.close();
});

it('H2 reads 100,000 events', () => expect(REPLAY_EVENTS).toBe(100_000));

it('H2 counts events that are not for this client; past the bound it begins anew and goes on', async () => {
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
  await append(stage.edge.store, stage.project, hidden, requested());
  for (let left = MOST - 3; left > 0; left -= 500) {
    await append(stage.edge.store, stage.project, hidden, ...Array.from({ length: Math.min(500, left) }, () => claimed()));
  }
  const last = await visible();
  await everythingTold();
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
  await everythingTold();
  for (const id of [before, atFirst]) {
    const listener = await stage.listen(KEY, { 'last-event-id': id });
    await listener.until((l) => l.frames.length === 2, 'the reset');
    expect(listener.types()).toEqual(['open', 'reset']);
    const now = await visible();
    await listener.until((l) => l.of(now).length === 1, 'what happens from there on');
    const again = await stage.listen(KEY, { 'last-event-id': listener.frames[1]?.id ?? '' });
    await again.until((l) => l.of(now).length === 1, 'the same, replayed from the reset');
    for (const one of [listener, again]) {
      expect(one.types()).toEqual(one === listener ? ['open', 'reset', 'review.created'] : ['open', 'review.created']);
      expect(one.of(beyond)).toEqual([]);
      one.close();
    }
  }
});

/** Until the gateway has told everything: a stream opens where the gateway is. */
async function everythingTold(): Promise<void> {
  const { position } = await stage.edge.store.head();
  for (let reached = 0; reached < position; ) {
    const listener = await stage.listen(KEY);
    reached = placeOf(listener.lastId)?.position ?? 0;
    listener.close();
  }
}
