export * from './deadline.js';
export * from './review.js';
export * from './state.js';
