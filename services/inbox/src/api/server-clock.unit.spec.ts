import { describe, expect, it } from '@jest/globals';
import { ServerClock } from './server-clock.js';

/** A browser whose clock is off, and a server whose answers take their time. */
function at(offset: number) {
  let local = 1_800_000_000_000;
  const clock = new ServerClock(() => local);
  const server = () => local + offset;
  const ask = (there: number, back: number) => {
    const sent = local;
    local += there;
    const date = new Date(Math.floor(server() / 1000) * 1000).toUTCString();
    local += back;
    clock.observe(date, sent, local);
  };
  return { clock, ask, server, wait: (ms: number) => (local += ms) };
}

describe('the server’s clock', () => {
  it('is this machine’s until an answer says otherwise', () => {
    const { clock, server } = at(0);
    expect(clock.now()).toBe(server());
    clock.observe(null, 0, 1);
    clock.observe('nonsense', 0, 1);
    expect(clock.now()).toBe(server());
  });

  it.each([-600_000, 0, 3_456_789])('is known to half a second from one quick answer, with a clock %d ms off', (offset) => {
    const { clock, ask, server } = at(offset);
    ask(5, 5);
    expect(Math.abs(clock.now() - server())).toBeLessThanOrEqual(510);
  });

  it('is known better with each answer', () => {
    const { clock, ask, server, wait } = at(90_000);
    for (let i = 0; i < 40; i++) {
      ask(3, 3);
      wait(137);
    }
    expect(Math.abs(clock.now() - server())).toBeLessThan(100);
  });

  it('is not spoilt by an answer that was slow', () => {
    const { clock, ask, server, wait } = at(-4_000);
    ask(5, 5);
    wait(400);
    ask(5, 9_000);
    expect(Math.abs(clock.now() - server())).toBeLessThanOrEqual(510);
  });

  it('is learnt anew when a clock was set', () => {
    const { clock, ask } = at(0);
    ask(5, 5);
    const local = clock.now();
    clock.observe(new Date(local + 3_600_000).toUTCString(), local, local + 10);
    expect(Math.abs(clock.now() - local - 3_600_000)).toBeLessThan(2_000);
  });
});
