import { inOneProcess } from './in-one-process.js';
import { playKills } from './play.js';

playKills('in one process', inOneProcess, { share: 0.6, size: 20 });
