import { inOneProcess } from './in-one-process.js';
import { playKills } from './play.js';

playKills('in one process', inOneProcess, { share: 0.75, size: 25 });
