import { runService } from '@countersign/service-host';
import { GATEWAY } from './service.js';

runService(GATEWAY);
