import { ErrorBody, errorsOf, type Issue, type Operation, type TSchema, validator } from '@countersign/contracts';
import { readJson } from '@countersign/evidence';
import type { AnswerCheck } from '../client/client.js';
import { findOperation } from '../operation-path.js';

/** A service answered what its contract does not have. A fault of ours: it is not passed on where answers are checked (K17). */
class ContractBreach extends Error {
  override readonly name = 'ContractBreach';
}

/**
 * Compares every answer with the table of operations: status, body, error code. Internal routes have no row and are not looked at.
 * @param onBreach throws by default; a running server may rather log.
 */
export function checkAnswers(
  onBreach: (breach: ContractBreach) => void = (breach) => {
    throw breach;
  },
): AnswerCheck {
  return ({ service, method, path }, answer) => {
    const operation = findOperation(method, path);
    if (!operation || answer.status === 304) return;
    const breach = breachOf(operation, answer);
    if (breach) onBreach(new ContractBreach(`${operation.id} of ${service} answered ${answer.status}: ${breach}`));
  };
}

function breachOf(operation: Operation, { status, body }: { status: number; body: Buffer }): string | undefined {
  if (status >= 400) return errorBreach(operation, body);
  if (!Object.hasOwn(operation.responses, status)) return 'the operation has no such status.';
  const schema = operation.responses[status];
  if (schema === null || schema === undefined) return body.length === 0 ? undefined : 'a body where none is declared.';
  if (operation.mediaType) return undefined;
  return jsonBreach(schema, body);
}

function errorBreach(operation: Operation, body: Buffer): string | undefined {
  const breach = jsonBreach(ErrorBody, body);
  if (breach) return breach;
  const { code } = (readJson(body.toString('utf8')) as ErrorBody).error;
  const known = errorsOf(operation);
  return known.includes(code) ? undefined : `the code ${code} is not among its errors.`;
}

function jsonBreach(schema: TSchema, body: Buffer): string | undefined {
  let value: unknown;
  try {
    value = readJson(body.toString('utf8'));
  } catch {
    return 'the body is not JSON.';
  }
  const result = validator(schema, 'exact')(value);
  return result.ok ? undefined : result.issues.map((issue: Issue) => `${issue.path || 'the body'} ${issue.message}`).join('; ');
}
