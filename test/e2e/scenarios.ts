/**
 * What the product is for, told once. A scenario names its moments; the caller may let anything happen at one of them, such as the death of
 * every process, and the scenario must end the same.
 *
 * Outcomes are judged from the outside: what callers were answered, what arrived at the receiver, and what the log holds.
 */
import { idempotentCreate, keyLimits, templateStates, withdraw } from './scenarios/asking.js';
import { approve, changes, edit, reject, twoPeople } from './scenarios/deciding.js';
import type { Scenario } from './scenarios/scenario.js';
import { failingDelivery, stream } from './scenarios/telling.js';
import { late, timeout } from './scenarios/time.js';

export const SCENARIOS: Record<string, Scenario> = {
  'an approval is delivered, verified, and redeemed once for the exact value': approve,
  'an edit is merged, delivered, and found by the feedback': edit,
  'changes are requested, made, and approved': changes,
  'a rejection is told with its reason, and nothing can be redeemed': reject,
  'a timeout that approves': timeout('auto_approve'),
  'a timeout that rejects': timeout('auto_reject'),
  'a timeout that expires': timeout('expire'),
  'a decision that comes too late': late,
  'one request, however often it is sent': idempotentCreate,
  'several people at once': twoPeople,
  'paused and draft templates': templateStates,
  'a stream that breaks and goes on': stream,
  'deliveries that fail, die and are replayed': failingDelivery,
  'limits of keys': keyLimits,
  'an agent changes its mind': withdraw,
};
