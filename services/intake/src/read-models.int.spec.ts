/** What intake lists and counts is derived from the log: made anew it is the same, and an event that comes twice changes nothing. */
import { rebuildProjection } from '@countersign/event-bus';
import { redactStream } from '@countersign/event-store';
import { act, withdraw } from '@countersign/review';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Station, startStation } from './fixture/station.js';
import { INTAKE_PROJECTION } from './index.js';

jest.setTimeout(60_000);

let station: Station;
let open: string[];
beforeAll(async () => {
  station = await startStation();
  const [mail, other] = [await station.template({ slug: 'mail' }), await station.template()];
  const auto = await station.template({ auto_approve: true });
  await station.call('createTemplateDraft', station.chief, { body: { name: 'Later' } });
  await station.call('updateTemplate', station.chief, { params: { id: mail.id }, body: { name: 'Renamed' } });
  await station.call('pauseTemplate', station.chief, { params: { id: other.id } });
  await station.call('deleteTemplate', station.chief, { params: { id: (await station.template()).id } });
  const reviews = [];
  for (let n = 0; n < 6; n++) reviews.push(await station.ask('mail', n === 5 ? { timeout: { seconds: 60, action: 'expire' } } : {}));
  const [approved, sentBack, withdrawn, erased, waiting, expiring] = reviews as [string, string, string, string, string, string];
  const acting = (id: string, action: string, more: object = {}) =>
    station.happen(id, station.ann, (state, now) => act({ actor: station.ann, action: { id: action }, ...more }, state, now));
  await acting(approved, 'approve');
  await acting(sentBack, 'request_changes', { feedback: 'Shorter.' });
  await station.happen(withdrawn, null, (state, now) => withdraw({ actor: station.agent }, state, now));
  await redactStream(station.db.ownerPool, { stream: erased, reason: 'asked to be forgotten' });
  await station.db.advanceClock(60);
  await acting(expiring, 'approve').catch(() => undefined);
  await station.ask(auto.slug);
  open = [sentBack, waiting].sort();
  await station.caughtUp();
});
afterAll(() => station.close());

async function tables() {
  const rows = async (sql: string) => (await station.db.pool.query(sql)).rows as { review?: string }[];
  return {
    templates: await rows('select * from intake.templates order by template'),
    reviews: await rows('select * from intake.open_reviews order by review'),
  };
}

describe('the read models', () => {
  it('hold the reviews nobody has settled, whichever way the others ended', async () => {
    expect((await tables()).reviews.map(({ review }) => review)).toEqual(open);
  });

  it('are the same when they are made anew', async () => {
    const before = await tables();
    expect(before.templates).toHaveLength(5);
    await rebuildProjection(INTAKE_PROJECTION, { owner: station.db.ownerPool, store: station.store });
    expect(await tables()).toEqual(before);
    // The application still works with what took their place.
    const id = await station.ask('mail');
    await station.caughtUp();
    expect((await tables()).reviews.map(({ review }) => review)).toContain(id);
    await station.happen(id, null, (state, now) => withdraw({ actor: station.agent }, state, now));
    await station.caughtUp();
  });

  it('are the same when the whole log comes again', async () => {
    const before = await tables();
    await station.bus.seek('intake', 0);
    await station.caughtUp();
    expect(await tables()).toEqual(before);
  });

  it('list no template that was erased', async () => {
    const { id, slug } = await station.template();
    await redactStream(station.db.ownerPool, { stream: id, reason: 'asked to be forgotten' });
    await station.caughtUp();
    const { items } = (await station.call('listTemplates', station.ann)).body;
    expect(items.map((template) => template.slug)).not.toContain(slug);
    expect((await station.call('getTemplate', station.ann, { params: { id } })).code).toBe('template_not_found');
  });
});
