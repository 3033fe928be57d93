export { given, type Led, type Story, type Teller } from './given.js';
export { defaultSets, type TestDatabase, testDatabase } from './test-database.js';
