import { testDatabase } from '@countersign/testing';
import { eventBusContract } from './contract-suite.js';
import { storeArena } from './store-arena.js';

eventBusContract('the store adapter', async () => storeArena(await testDatabase()));
