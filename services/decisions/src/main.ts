import { runService } from '@countersign/service-host';
import { DECISIONS } from './service.js';

runService(DECISIONS);
