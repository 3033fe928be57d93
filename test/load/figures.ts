import { APPEND_1 } from './append/append-1.js';
import { APPEND_32 } from './append/append-32.js';
import { APPEND_1024 } from './append/append-1024.js';
import type { Figure } from './figure.js';
import { HTTP_64 } from './http/http-64.js';
import { HTTP_200_KAFKA, HTTP_200_STORE } from './http/http-200.js';

/** Every figure, in the order of docs/performance.md. */
export const FIGURES: readonly Figure[] = [APPEND_32, APPEND_1024, APPEND_1, HTTP_64, HTTP_200_STORE, HTTP_200_KAFKA];
