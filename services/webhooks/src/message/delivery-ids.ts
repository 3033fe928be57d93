import { createHash } from 'node:crypto';
import { uuidOf } from '@countersign/event-store';

/**
 * The uuid of a delivery (`whd_…`), the same whenever it is worked out: the time of the event that caused it, its place among the event's
 * deliveries, and a digest of event and type. A UUIDv7 whose order is that of causing and sending.
 * @param eventId `evt_…`
 * @param place from 0, below 4096.
 */
export function deliveryUuid(eventId: string, eventType: string, place: number): string {
  const time = uuidOf(eventId).replaceAll('-', '').slice(0, 12);
  const digest = createHash('sha256').update(`countersign.delivery.1\0${eventId}\0${eventType}\0${place}`).digest('hex');
  const variant = ((Number.parseInt(digest.slice(0, 1), 16) & 3) | 8).toString(16);
  const hex = `${time}7${place.toString(16).padStart(3, '0')}${variant}${digest.slice(1, 16)}`;
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
