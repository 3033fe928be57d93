import { newId, type StoredEvent } from '@countersign/event-store';
import { MemoryLog } from '@countersign/event-store/model';
import { digest } from '@countersign/evidence';
import { expect, it } from '@jest/globals';
import type { ReceivedEvent } from './message.js';
import { fetchReferences, StrangeMessageError } from './references.js';

const log = new MemoryLog({ categories: { review: 'rev' }, now: () => Date.now() });
for (const text of ['one', 'two']) {
  log.append({
    streams: [{ stream: newId('rev'), project: newId('prj'), expectedVersion: 'any', events: [{ type: 't', body: { text } }] }],
    meta: {},
  });
}
const [one, two] = log.events as [StoredEvent, StoredEvent];
const refersTo = (event: StoredEvent, body: unknown = event.body): ReceivedEvent => ({
  page: 'a',
  event: { ...event, body: null },
  reference: digest(body),
});
const fetched = (...received: ReceivedEvent[]) => fetchReferences({ readAll: async (page) => log.readAll(page) }, received);

it('brings the body a message refers to, and leaves one it carries as it is', async () => {
  const carried = { ...one, body: { text: 'carried' } };
  expect(await fetched({ page: 'a', event: carried, reference: null }, refersTo(two))).toEqual([carried, two]);
});

it('believes no message that names another event or another body than the store has', async () => {
  await expect(fetched(refersTo({ ...two, id: newId('evt') }))).rejects.toThrow(StrangeMessageError);
  await expect(fetched(refersTo({ ...one, position: 3 }))).rejects.toThrow(StrangeMessageError);
  await expect(fetched(refersTo(one), refersTo(two, { text: 'tampered' }))).rejects.toThrow(StrangeMessageError);
});

it('takes a redacted event as the store has it now', async () => {
  const redacted: StoredEvent = { ...two, body: null, redacted: true };
  expect(await fetchReferences({ readAll: async () => [redacted] }, [refersTo(two)])).toEqual([redacted]);
});
