/** What intake lists and counts is derived from the log: made anew it is the same, and an event that comes twice changes nothing. */
import { rebuildProjection } from '@countersign/event-bus';
import { redactStream } from '@countersign/event-store';
import { act, withdraw } from '@countersign/review';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Server, startServer } from './fixture/server.js';
import { INTAKE_PROJECTION } from './index.js';

let server: Server;
let open: string[];
beforeAll(async () => {
  server = await startServer();
  const [mail, other] = [await server.template({ slug: 'mail' }), await server.template()];
  const auto = await server.template({ auto_approve: true });
  await server.call('createTemplateDraft', server.chief, { body: { name: 'Later' } });
  await server.call('updateTemplate', server.chief, { params: { id: mail.id }, body: { name: 'Renamed' } });
  await server.call('pauseTemplate', server.chief, { params: { id: other.id } });
  await server.call('deleteTemplate', server.chief, { params: { id: (await server.template()).id } });
  const reviews = [];
  for (let n = 0; n < 6; n++) reviews.push(await server.ask('mail', n === 5 ? { timeout: { seconds: 60, action: 'expire' } } : {}));
  const [approved, sentBack, withdrawn, erased, waiting, expiring] = reviews as [string, string, string, string, string, string];
  const acting = (id: string, action: string, more: object = {}) =>
    server.happen(id, server.ann, (state, now) => act({ actor: server.ann, action: { id: action }, ...more }, state, now));
  await acting(approved, 'approve');
  await acting(sentBack, 'request_changes', { feedback: 'Shorter.' });
  await server.happen(withdrawn, null, (state, now) => withdraw({ actor: server.agent }, state, now));
  await redactStream(server.db.ownerPool, { stream: erased, reason: 'asked to be forgotten' });
  await server.db.advanceClock(60);
  await acting(expiring, 'approve').catch(() => undefined);
  await server.ask(auto.slug);
  open = [sentBack, waiting].sort();
  await server.caughtUp();
});
afterAll(() => server.close());

async function tables() {
  const rows = async (sql: string) => (await server.db.pool.query(sql)).rows as { review?: string }[];
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
    await rebuildProjection(INTAKE_PROJECTION, { owner: server.db.ownerPool, store: server.store });
    expect(await tables()).toEqual(before);
    // The application still works with what took their place.
    const id = await server.ask('mail');
    await server.caughtUp();
    expect((await tables()).reviews.map(({ review }) => review)).toContain(id);
    await server.happen(id, null, (state, now) => withdraw({ actor: server.agent }, state, now));
    await server.caughtUp();
  });

  it('are the same when the whole log comes again', async () => {
    const before = await tables();
    await server.bus.seek('intake', 0);
    await server.caughtUp();
    expect(await tables()).toEqual(before);
  });

  it('list no template that was erased', async () => {
    const { id, slug } = await server.template();
    await redactStream(server.db.ownerPool, { stream: id, reason: 'asked to be forgotten' });
    await server.caughtUp();
    const { items } = (await server.call('listTemplates', server.ann)).body;
    expect(items.map((template) => template.slug)).not.toContain(slug);
    expect((await server.call('getTemplate', server.ann, { params: { id } })).code).toBe('template_not_found');
  });
});
