import { newId } from '@countersign/event-store';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { aPerson } from '../fixture/edge.js';
import { append, Listener, requested } from '../fixture/stream.js';
import { KEY, StreamStage } from '../fixture/stream-stage.js';

let stage: StreamStage;
beforeAll(async () => {
  stage = await StreamStage.start();
});
afterAll(() => stage.close());
afterEach(() => stage.reset());

describe('tickets', () => {
  const ticketOf = async (credential: string) => {
    const response = await stage.edge.fetch('/api/v1/events/ticket', { method: 'POST', key: credential });
    const body = (await response.json()) as { ticket: string; expires_in: number };
    expect([response.status, body]).toEqual([200, { ticket: expect.stringMatching(/^[0-9a-f]{48}$/), expires_in: 60 }]);
    return body.ticket;
  };
  const use = async (ticket: string, url = stage.edge.url) => {
    const listener = await Listener.open(`${url}/api/v1/events/stream?ticket=${ticket}`);
    stage.listeners.push(listener);
    await listener.until((l) => l.text !== '', 'an answer');
    return [listener.status, listener.status === 200 ? 'open' : JSON.parse(listener.text).error.code];
  };

  it('open one stream, once, at any gateway', async () => {
    stage.keyOf();
    const sibling = await stage.edge.sibling();
    const ticket = await ticketOf(KEY);
    expect(await use(ticket, sibling.url)).toEqual([200, 'open']);
    expect(await use(ticket)).toEqual([401, 'invalid_ticket']);
    await sibling.close();
  });

  it('open it for the caller they were given to', async () => {
    stage.keyOf();
    const listener = await Listener.open(`${stage.edge.url}/api/v1/events/stream?ticket=${await ticketOf(KEY)}`);
    stage.listeners.push(listener);
    const review = newId('rev');
    await append(stage.edge.store, newId('prj'), newId('rev'), requested());
    await append(stage.edge.store, stage.project, review, requested());
    await listener.until((l) => l.of(review).length === 1, 'the own review');
    expect(listener.types()).toEqual(['open', 'review.created']);
  });

  it('are good for a minute, and for nobody whose credential has ended', async () => {
    stage.keyOf();
    stage.edge.credentials.set('session', aPerson());
    const [late, revoked] = [await ticketOf(KEY), await ticketOf('session')];
    stage.edge.credentials.delete('session');
    expect(await use(revoked)).toEqual([401, 'invalid_ticket']);
    await stage.edge.db.advanceClock(61);
    expect(await use(late)).toEqual([401, 'invalid_ticket']);
  });

  it.each(['', 'x', 'f'.repeat(48), 'F'.repeat(48)])('are not guessed: %j', async (ticket) => {
    expect(await use(ticket)).toEqual([401, 'invalid_ticket']);
  });

  it('are asked for where there is no credential', async () => {
    const response = await stage.edge.fetch('/api/v1/events/stream');
    expect(await response.json()).toMatchObject({ error: { code: 'missing_ticket' } });
  });

  it('leave nothing in the database but a hash, and that not for long', async () => {
    stage.keyOf();
    const ticket = await ticketOf(KEY);
    const stored = JSON.stringify(
      (await stage.edge.db.ownerPool.query('select *, encode(hash, $1) as hex from gateway.stream_tickets', ['hex'])).rows,
    );
    expect(stored).not.toContain(ticket);
    await stage.edge.db.advanceClock(61);
    await ticketOf(KEY);
    expect((await stage.edge.db.ownerPool.query('select 1 from gateway.stream_tickets')).rowCount).toBe(1);
  });
});
