import { jest } from '@jest/globals';
import { startAllInOne } from '../e2e/topology.js';
import { playTraces } from './traced.js';

jest.setTimeout(180_000);

playTraces('in one process', startAllInOne, {
  services: { gateway: 'countersign', intake: 'countersign', webhooks: 'countersign' },
  kafka: false,
});
