export { MemoryPool, type Reach, RowLocks, type Statement, type Write } from './memory-pool.js';
export { mirror } from './mirror.js';
