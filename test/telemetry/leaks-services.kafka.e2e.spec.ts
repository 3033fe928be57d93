import { startServices } from '../e2e/topology.js';
import { playLeaks } from './leaks.js';

// A service's lines with its name; what starts them all speaks for itself.
playLeaks(
  'as services over Kafka',
  startServices,
  /^(((gateway|intake|decisions|directory|monitoring|webhooks|audit) \| )?)\{"level":.*\}$/,
);
