export { defaultSets, type TestDatabase, testDatabase } from './test-database.js';
