export * from './canonical.js';
export * from './difference.js';
export * from './digest.js';
