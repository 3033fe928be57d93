/** What holds for every reader of a hub, whatever happens in whatever order, down to a single microtask. */
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, jest } from '@jest/globals';
import fc from 'fast-check';
import { type ExpectedFrame, LISTENING, type Listening, REVIEWS, StreamClient, StreamWorld } from '../fixture/stream-world.js';
import { frameId, isAfter, type Place, placeOf } from './frame-id.js';

// Hundreds of lives, on a machine that may be busy.
jest.setTimeout(120_000);

const DAY_MS = 24 * 3_600_000;

type From = 'new' | 'nonsense' | 'beyond' | { back: number; index: number } | { resume: number };
type Step =
  | { do: 'append'; review: number | 'other'; count: number }
  | { do: 'deliver'; most: number }
  | { do: 'connect'; who: number; from: From; quick: boolean }
  | { do: 'leave' | 'take'; client: number }
  | { do: 'look' | 'answer' | 'fail'; question: number }
  | { do: 'day' };

const nat = (max: number) => fc.nat({ max });
const from = (): fc.Arbitrary<From> =>
  fc.oneof(
    fc.constantFrom<From>('new', 'nonsense', 'beyond'),
    { arbitrary: fc.record({ back: nat(8), index: fc.constantFrom(0, 1, 9) }), weight: 3 },
    { arbitrary: fc.record({ resume: nat(9) }), weight: 3 },
  );
const step = (): fc.Arbitrary<Step> =>
  fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({
        do: fc.constant('append' as const),
        review: fc.oneof({ arbitrary: nat(REVIEWS - 1), weight: 5 }, fc.constant('other' as const)),
        // More than a page of the store, now and then.
        count: fc.oneof({ arbitrary: fc.integer({ min: 1, max: 3 }), weight: 30 }, fc.constant(600)),
      }),
    },
    { weight: 6, arbitrary: fc.record({ do: fc.constant('deliver' as const), most: fc.integer({ min: 1, max: 4 }) }) },
    {
      weight: 4,
      arbitrary: fc.record({ do: fc.constant('connect' as const), who: nat(LISTENING.length - 1), from: from(), quick: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('leave' as const), client: nat(9) }) },
    { weight: 4, arbitrary: fc.record({ do: fc.constant('take' as const), client: nat(9) }) },
    { weight: 2, arbitrary: fc.record({ do: fc.constant('look' as const), question: nat(9) }) },
    { weight: 12, arbitrary: fc.record({ do: fc.constant('answer' as const), question: nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('fail' as const), question: nat(9) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant('day' as const) }) },
  );
/** What comes after a step: so many microtasks, or a turn of the event loop, in which sockets get theirs. */
const pause = () => fc.oneof(nat(12), fc.constant('turn' as const));

function lastEventId(start: From, world: StreamWorld, clients: readonly StreamClient[]): string | undefined {
  if (start === 'new') return undefined;
  if (start === 'nonsense') return 'MTIzLg';
  if (start === 'beyond') return frameId({ position: world.head + 1_000_000, index: 0 });
  if ('resume' in start) return clients[start.resume % clients.length]?.lastId;
  return frameId({ position: Math.max(0, world.head - start.back), index: start.index });
}

function take(one: Step, world: StreamWorld, clients: StreamClient[]): void {
  switch (one.do) {
    case 'append':
      world.append(one.review, one.count);
      break;
    case 'deliver':
      world.deliver(one.most);
      break;
    case 'connect':
      clients.push(new StreamClient(LISTENING[one.who] as Listening, lastEventId(one.from, world, clients), world, one.quick));
      break;
    case 'leave':
      clients[one.client % clients.length]?.leave();
      break;
    case 'take':
      clients[one.client % clients.length]?.take();
      break;
    case 'day':
      world.now += DAY_MS + 1;
      break;
    default:
      world.respond(one.do, one.question);
  }
}

/** Goes through what a client was told, frame by frame. @returns whether it was told a reset. */
function check(client: StreamClient, world: StreamWorld): boolean {
  const visible = world.frames.filter((frame) => client.listening.sees(frame));
  const told = client.told();
  const [open, ...rest] = told;
  if (!open) {
    expect(client.isOpen).toBe(false);
    return false;
  }
  expect([open.type, open.id === null]).toEqual(['open', client.lastEventId !== undefined]);
  let place = placeOf(client.lastEventId ?? open.id ?? '');
  let wasReset = false;
  for (const { id, type, review } of rest) {
    const at = placeOf(id ?? '') as Place;
    if (type === 'reset') {
      checkReset(visible, place, at, client, world);
      wasReset = true;
    } else {
      expect(place).not.toBeNull();
      const next = visible.find((frame) => isAfter(frame, place as Place));
      expect([at, type, review]).toEqual([{ position: next?.position, index: next?.index }, next?.type, next?.review]);
    }
    place = at;
  }
  if (client.isOpen) {
    // A place nobody has been to must have been reset.
    expect(place?.position).toBeLessThanOrEqual(world.head);
    expect(visible.filter((frame) => isAfter(frame, place as Place))).toEqual([]);
  }
  return wasReset;
}

/** A reset needs a reason, and takes nothing from the client that happened since it was told `open`. */
function checkReset(visible: readonly ExpectedFrame[], before: Place | null, at: Place, client: StreamClient, world: StreamWorld): void {
  const unknown = before === null || before.position > client.headAtOpen;
  const skipped = visible.filter((frame) => (unknown || isAfter(frame, before)) && !isAfter(frame, at));
  if (!unknown) expect(skipped.filter((frame) => world.now - frame.at > DAY_MS)).not.toEqual([]);
  expect(skipped.filter(({ position }) => position > client.headAtOpen)).toEqual([]);
}

describe('every reader of the stream', () => {
  it('H1 H2 H3 is told each frame it may see once and in order, or is reset and told everything from there on', async () => {
    const seen = { resets: 0, complete: 0, cut: 0 };
    await fc.assert(
      fc.asyncProperty(
        nat(8),
        fc.constantFrom(2_000, 50_000_000),
        fc.array(fc.tuple(step(), pause()), { minLength: 10, maxLength: 80 }),
        async (earlier, bufferBytes, steps) => {
          const world = new StreamWorld(bufferBytes);
          for (let i = 0; i < earlier; i++) world.append(i % REVIEWS, 1);
          const started = world.hub.start();
          world.respond('answer', 0);
          await started;
          const clients: StreamClient[] = [];
          for (const [one, after] of steps) {
            take(one, world, clients);
            if (after === 'turn') await turn();
            else for (let i = 0; i < after; i++) await null;
          }
          // The end: a fact that everybody sees who is still there.
          world.append(0, 1);
          world.append(1, 1);
          const isThrough = (client: StreamClient) => {
            const last = world.frames.findLast((frame) => client.listening.sees(frame)) as ExpectedFrame;
            const place = placeOf(client.lastId ?? '');
            return !client.isOpen || (place !== null && !isAfter(last, place));
          };
          await world.settle(clients, () => clients.every(isThrough));
          await turn();
          for (const client of clients) {
            if (check(client, world)) seen.resets++;
            if (client.isOpen) seen.complete++;
            else if (!client.left) seen.cut++;
            // Nobody is cut off without a reason.
            const excused = client.left || bufferBytes < 10_000 || steps.some(([one]) => one.do === 'fail');
            expect(client.isOpen || excused).toBe(true);
          }
          let closed = false;
          void world.hub.close().then(() => {
            closed = true;
          });
          await world.settle([], () => closed);
          expect(closed).toBe(true);
        },
      ),
      { numRuns: 300 },
    );
    // Each kind of end came up, or nothing was shown.
    for (const [end, times] of Object.entries(seen)) expect([end, times > 5]).toEqual([end, true]);
  });
});
