import { idOf } from '@countersign/event-store';

/** An id no person has: what is asked of the database for somebody who does not exist, so that it costs the same. */
export const NOBODY = idOf('per', '00000000-0000-7000-8000-000000000000');
