import { playKills } from './play.js';
import { separateServices } from './separate-services.js';

playKills('as separate services', separateServices, { share: 0.25, size: 25 });
