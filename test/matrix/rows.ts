import type { Rows } from './row.js';
import { ASKING_ROWS } from './rows-asking.js';
import { DECIDING_ROWS } from './rows-deciding.js';
import { REST_ROWS } from './rows-rest.js';
import { TEMPLATE_ROWS } from './rows-templates.js';

/** The matrix. An operation without a row compiles nowhere and fails the test: whoever adds one says who may do it. */
export const ROWS: Rows = { ...REST_ROWS, ...TEMPLATE_ROWS, ...ASKING_ROWS, ...DECIDING_ROWS };
