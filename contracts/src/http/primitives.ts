/** Words used by many messages: ids, times, digests, addresses. HRP §0 with decision 18 for the ids. */
import { choice, Type } from '../schema.js';

/** TypeID: prefix, `_`, UUIDv7 in lowercase Crockford base32 (decision 18). */
function typeId(prefix: string, description?: string) {
  return Type.String({ pattern: `^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`, ...(description ? { description } : {}) });
}

export const reviewId = () => typeId('rev');
export const templateId = () => typeId('tpl');
export const projectId = (description?: string) => typeId('prj', description);
export const personId = () => typeId('per');
export const keyId = () => typeId('key');
export const sessionId = () => typeId('ses');
export const deliveryId = () => typeId('whd');
export const eventId = () => typeId('evt');
export const redemptionId = () => typeId('rdm');
export const executionId = () => typeId('exe');
export const versionId = () => typeId('ver');
export const inviteId = () => typeId('inv');

/** ISO 8601 in UTC with milliseconds. */
export const timestamp = (description?: string) =>
  Type.String({
    format: 'date-time',
    pattern: '^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$',
    ...(description ? { description } : {}),
  });

/** A moment a caller names: RFC 3339, of the years 1970 to 2999, without leap seconds and within 16 hours of UTC, so that every clock here can hold it. */
export const moment = (description?: string) =>
  Type.String({
    format: 'date-time',
    pattern: '^(19[7-9]\\d|2\\d{3})-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:[0-5]\\d(\\.\\d{1,9})?([Zz]|[+-](0\\d|1[0-5]):[0-5]\\d)$',
    maxLength: 40,
    ...(description ? { description } : {}),
  });

/** `sha256:` and lowercase hex over the RFC 8785 bytes (HRP §13). */
export const digest = (description?: string) => Type.String({ pattern: '^sha256:[0-9a-f]{64}$', ...(description ? { description } : {}) });

export const email = (description?: string) => Type.String({ format: 'email', maxLength: 254, ...(description ? { description } : {}) });

/** An http or https address. Whether its host may be called is judged by the service (`invalid_callback_url`). */
export const httpUrl = (description?: string) =>
  Type.String({ format: 'uri', pattern: '^[hH][tT][tT][pP][sS]?://', maxLength: 2048, ...(description ? { description } : {}) });

/** Free text with a stated length in code points. */
export const text = (maxLength: number, minLength = 0, description?: string) =>
  Type.String({ ...(minLength > 0 ? { minLength } : {}), maxLength, ...(description ? { description } : {}) });

export const count = (description?: string) => Type.Integer({ minimum: 0, ...(description ? { description } : {}) });

export const priority = () => choice(['low', 'normal', 'high', 'critical']);
export const timeoutAction = () => choice(['auto_approve', 'auto_reject', 'expire']);

/** Shortest and longest wait a timeout may name: one minute, ten years. */
export const seconds = () => Type.Integer({ minimum: 60, maximum: 315_360_000 });

export const slug = () => Type.String({ pattern: '^[a-z0-9]+(-[a-z0-9]+)*$', minLength: 1, maxLength: 100 });

/** Path parameter. An id that cannot exist is answered 404 by the service, not 400, so nothing but presence is checked here. */
export const pathId = () => Type.String({ minLength: 1, maxLength: 255 });
