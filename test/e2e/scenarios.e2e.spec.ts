import { jest } from '@jest/globals';
import { playScenarios } from './play.js';
import { startAllInOne } from './topology.js';

jest.setTimeout(180_000);

playScenarios('in one process', () => startAllInOne(), ['undisturbed', 'killed and started again at every moment']);
