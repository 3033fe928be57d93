/** What is appended, by ours and by whoever it is held against: an event with a body of 520 bytes, and the metadata services give theirs. */
import { canonicalize } from '@countersign/evidence';

const BODY_BYTES = 520;
const DECIDED = {
  decision: 'rejected',
  version: 1,
  decided_by: { kind: 'system', id: 'system:timeout' },
  acted_by: null,
  proof: null,
  trigger: 'timeout',
  after_seconds: 3_600,
  action: null,
  shown: null,
  approved_value: null,
  approved_digest: null,
  edited_payload: null,
  changed_keys: [],
  feedback: '',
  prompt_edit: null,
  held_by: null,
};

export const TYPE = 'review.decided';
export const BODY = { ...DECIDED, feedback: 'x'.repeat(BODY_BYTES - canonicalize(DECIDED).length) };
/** As long as what a traced append keeps: a request's id, who asked, and where it stood in its trace. */
export const META = {
  actor: { kind: 'person' as const, id: 'per_01m6b5cjm0e46rhg5rgkqwb1tn' },
  request_id: 'req_01m6b5cjm0e46rhg5rgkqwb1tn',
};
const TRACE = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01' };
/** The same two as the text a table holds. */
export const BODY_TEXT = canonicalize(BODY);
export const META_TEXT = canonicalize({ ...META, ...TRACE });
