import { describe, expect, it } from '@jest/globals';
import { type Circuit, type CircuitPolicy, observed, roomOf, stateOf } from './circuit.js';

const POLICY: CircuitPolicy = { circuitFailures: 3, circuitMaxOpen: 60_000, backoff: [5_000, 30_000, 120_000], endpointConcurrency: 8 };
const CLOSED: Circuit = { failures: 0, openUntil: null };
const NOW = 1_000_000;

const failing = (times: number, from = CLOSED) =>
  Array.from({ length: times }).reduce<Circuit>((circuit) => observed(circuit, 'failing', NOW, POLICY), from);

describe('the circuit of an endpoint', () => {
  it('opens after consecutive failures, for growing times up to a bound', () => {
    expect([1, 2, 3, 4, 5, 50].map((times) => failing(times).openUntil)).toEqual([
      null,
      null,
      NOW + 5_000,
      NOW + 30_000,
      NOW + 60_000,
      NOW + 60_000,
    ]);
  });

  it('closes with the first attempt that goes through', () => {
    expect(observed(failing(9), 'alive', NOW, POLICY)).toEqual(CLOSED);
    expect(failing(2, observed(failing(2), 'alive', NOW, POLICY)).openUntil).toBeNull();
  });

  it('learns nothing from an attempt that says nothing', () => {
    expect(observed(failing(2), 'unknown', NOW, POLICY)).toEqual(failing(2));
  });

  it('halves what runs at a time with each failure, then lets one through at a time', () => {
    expect([0, 1, 2].map((times) => roomOf(failing(times), 0, NOW, POLICY).room)).toEqual([8, 4, 2]);
    expect(roomOf(CLOSED, 8, NOW, POLICY).room).toBe(0);
    expect(roomOf(CLOSED, 9, NOW, POLICY).room).toBe(0);
    expect(roomOf(failing(3), 0, NOW, POLICY)).toEqual({ room: 1, urgentOnly: true });
    expect(roomOf(failing(3), 0, NOW + 5_000, POLICY)).toEqual({ room: 1, urgentOnly: false });
    expect(roomOf(failing(3), 1, NOW + 5_000, POLICY).room).toBe(0);
  });

  it('is half open from the moment its time has passed', () => {
    expect([NOW, NOW + 4_999, NOW + 5_000].map((now) => stateOf(failing(3), now))).toEqual(['open', 'open', 'half_open']);
    expect(stateOf(CLOSED, NOW)).toBe('closed');
  });
});
