/** The process of a side: starts what it is told, does a round whenever it is asked, and ends with whoever asked. */
import { once } from 'node:events';
import type { Side } from '../figure.js';
import type { Answer, Told } from './forked.js';

let side: Side | null = null;

async function answer(told: Told): Promise<Answer> {
  if ('round' in told) {
    if (side === null) throw new Error('Nothing was started.');
    return { sample: await side.round(told.round) };
  }
  const module = (await import(told.start.module)) as { start(settings: unknown): Promise<Side> };
  side = await module.start(told.start.settings);
  return { ready: true };
}

process.on('message', (told: Told) => {
  answer(told).then(
    (said) => process.send?.(said),
    (error: Error) => process.send?.({ error: error.stack ?? String(error) }),
  );
});
await once(process, 'disconnect');
const open = side as Side | null;
await open?.close();
process.exit(0);
