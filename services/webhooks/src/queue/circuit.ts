/**
 * What is known of an endpoint (one origin of one project), and how much may be sent to it. Pure.
 *
 * Failures in a row first halve what runs at a time, then open the circuit: one try now and then, at growing distances, until one goes
 * through. Deliveries that wait meanwhile use up no attempt.
 */
export interface Circuit {
  /** Consecutive failures. */
  failures: number;
  /** Unix milliseconds by the database's clock. */
  openUntil: number | null;
}

export interface CircuitPolicy {
  circuitFailures: number;
  circuitMaxOpen: number;
  backoff: readonly number[];
  endpointConcurrency: number;
}

export type CircuitState = 'closed' | 'open' | 'half_open';

export function stateOf(circuit: Circuit, now: number): CircuitState {
  if (circuit.openUntil === null) return 'closed';
  return circuit.openUntil > now ? 'open' : 'half_open';
}

export function observed(circuit: Circuit, health: 'alive' | 'failing' | 'unknown', now: number, policy: CircuitPolicy): Circuit {
  if (health === 'unknown') return circuit;
  if (health === 'alive') return { failures: 0, openUntil: null };
  const failures = circuit.failures + 1;
  const opened = failures - policy.circuitFailures;
  if (opened < 0) return { failures, openUntil: null };
  const delay = policy.backoff[Math.min(opened, policy.backoff.length - 1)] ?? policy.circuitMaxOpen;
  return { failures, openUntil: now + Math.min(delay, policy.circuitMaxOpen) };
}

/** How many more attempts may start, and whether only for deliveries that something made urgent: a new event, an operator's retry. */
export function roomOf(circuit: Circuit, running: number, now: number, policy: CircuitPolicy): { room: number; urgentOnly: boolean } {
  const state = stateOf(circuit, now);
  const most = state === 'closed' ? Math.max(1, policy.endpointConcurrency >> circuit.failures) : 1;
  return { room: Math.max(0, most - running), urgentOnly: state === 'open' };
}
