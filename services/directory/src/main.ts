import { runService } from '@countersign/service-host';
import { DIRECTORY } from './service.js';

runService(DIRECTORY);
