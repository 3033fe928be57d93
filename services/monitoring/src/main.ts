import { runService } from '@countersign/service-host';
import { MONITORING } from './service.js';

runService(MONITORING);
