import { APPEND_1 } from './append/append-1.js';
import { APPEND_32 } from './append/append-32.js';
import { APPEND_1024 } from './append/append-1024.js';
import type { Figure } from './figure.js';

/** Every figure, in the order of docs/performance.md. */
export const FIGURES: readonly Figure[] = [APPEND_32, APPEND_1024, APPEND_1];
