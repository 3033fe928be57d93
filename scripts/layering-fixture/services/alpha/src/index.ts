import '@countersign/beta'; // services-meet-in-events
import './first.js';
