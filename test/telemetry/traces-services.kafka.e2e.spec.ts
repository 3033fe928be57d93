import { jest } from '@jest/globals';
import { startServices } from '../e2e/topology.js';
import { playTraces } from './traced.js';

jest.setTimeout(180_000);

playTraces('as services over Kafka', startServices, {
  services: { gateway: 'countersign-gateway', intake: 'countersign-intake', webhooks: 'countersign-webhooks' },
  kafka: true,
});
