import { runService } from '@countersign/service-host';
import { WEBHOOKS } from './service.js';

runService(WEBHOOKS);
