import { testDatabase } from '@countersign/testing';
import { storeArena } from '../contract/arena.js';
import { eventBusContract } from '../contract/contract-suite.js';

eventBusContract('the store adapter', async () => storeArena(await testDatabase()));
