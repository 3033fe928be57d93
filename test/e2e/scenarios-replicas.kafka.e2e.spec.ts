import { jest } from '@jest/globals';
import { playScenarios } from './play.js';
import { startReplicas } from './topology.js';

jest.setTimeout(180_000);

playScenarios('as two of each service over Kafka', () => startReplicas(), ['with one killed in each scenario']);
