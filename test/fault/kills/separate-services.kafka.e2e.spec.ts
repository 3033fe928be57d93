import { playKills } from './play.js';
import { separateServices } from './separate-services.js';

playKills('as separate services', separateServices, { share: 0.4, size: 20 });
