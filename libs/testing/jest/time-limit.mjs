// How long a test or a hook may take. Jest has this per run only; the kinds of tests differ, and a run of jest by hand has them all.
import { jest } from '@jest/globals';

jest.setTimeout(globalThis.TIME_LIMIT_MS);
