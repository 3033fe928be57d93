import { runService } from '@countersign/service-host';
import { AUDIT } from './service.js';

runService(AUDIT);
