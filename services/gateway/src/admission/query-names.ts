import type { Operation } from '@countersign/contracts';
import { Problem } from '@countersign/http';
import type { FastifyRequest } from 'fastify';

/** Names told at once; a hostile address must not make a hostile answer. */
const MOST_NAMES = 20;

/**
 * A parameter the operation does not have is refused, not ignored: `?statu=pending` would list everything. Here for every operation, those
 * without any parameter included; what the values may be is the service's.
 * @throws {Problem} `validation_failed` with the names.
 */
export function refuseUnknownQuery(operation: Operation, request: FastifyRequest): void {
  const known = (operation.query as { properties?: object } | undefined)?.properties ?? {};
  const unknown = Object.keys(request.query as object).filter((name) => !Object.hasOwn(known, name));
  if (unknown.length === 0) return;
  const details = unknown
    .slice(0, MOST_NAMES)
    .map((name) => ({ path: `query.${name}`, message: 'is not a known parameter', code: 'unrecognized_keys' }));
  const param = details[0]?.path;
  throw new Problem('validation_failed', `${param} is not a known parameter.`, { param, details });
}
