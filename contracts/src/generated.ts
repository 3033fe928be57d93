import { readFileSync } from 'node:fs';

/** `contracts/generated/openapi.json` as it was written by `npm run contracts`: what the gateway serves. */
export function openApiText(): string {
  return readFileSync(new URL('../generated/openapi.json', import.meta.url), 'utf8');
}

/** Parsed anew at each call: the caller owns the object. */
export function openApiDocument(): Record<string, unknown> {
  return JSON.parse(openApiText()) as Record<string, unknown>;
}
