import { startAllInOne } from '../e2e/topology.js';
import { playLeaks } from './leaks.js';

playLeaks('in one process', startAllInOne, /^\{"level":.*\}$/);
