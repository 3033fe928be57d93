export * from './identity.js';
export * from './operation.js';
