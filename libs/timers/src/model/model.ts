export { dueRowStatements } from './due-rows-model.js';
