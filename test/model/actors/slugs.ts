/** Two who want the same name for something new: a key that is unique over all streams (K5). */
import { actorRef } from '@countersign/contracts';
import { handle, newId, type StoredEvent } from '@countersign/event-store';
import { initial } from '@countersign/review';
import type { Chance } from '../world/chance.js';
import { OWNER, PROJECT } from './cast.js';
import type { Desk } from './desk.js';

export async function slugs(desk: Desk, chance: Chance): Promise<void> {
  const take = async (slug: string) => {
    const key = `template_slug:${PROJECT}:${slug}`;
    const event = { type: 'template.drafted', body: { slug, draft: {}, by: actorRef(OWNER) } };
    await desk.ask(OWNER, { op: 'slug', review: null, slug }, async () => {
      const stream = newId('tpl');
      const { refusal } = await handle(desk.member.store, {
        stream,
        project: PROJECT,
        fold: { initial, evolve: (state, _: StoredEvent<typeof event>) => state },
        fresh: true,
        decide: () => ({ events: [event], reserve: [key] }),
        meta: {},
        onReserved: (_, holder) => ({ code: 'slug_already_exists', message: '', extra: { holder } }),
      });
      return refusal ? { kind: 'refused', code: refusal.code, extra: refusal.extra ?? {} } : { kind: 'ok', view: null, replayed: false };
    });
  };
  await Promise.all(Array.from({ length: 2 + chance.int(2) }, () => take('news')));
}
