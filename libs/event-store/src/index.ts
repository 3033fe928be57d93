export * from './handle.js';
export * from './types.js';
