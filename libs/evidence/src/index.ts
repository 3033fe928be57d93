export * from './canonical.js';
export * from './difference.js';
export * from './digest.js';
export { readJson } from './read-json.js';
