import { jest } from '@jest/globals';
import { playScenarios } from './play.js';
import { startServices } from './topology.js';

jest.setTimeout(180_000);

playScenarios('as services over Kafka', () => startServices(), ['undisturbed']);
