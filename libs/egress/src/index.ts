export type { CallbackRefusal, Resolve, ResolvedAddress } from './callback-url.js';
export {
  createEgress,
  type Egress,
  type EgressLimits,
  type EgressRequest,
  type Exchange,
  type ExchangeFailure,
  type FailureCode,
} from './egress.js';
export { EGRESS_SETTINGS } from './settings.js';
