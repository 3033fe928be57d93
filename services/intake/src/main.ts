import { runService } from '@countersign/service-host';
import { INTAKE } from './service.js';

runService(INTAKE);
