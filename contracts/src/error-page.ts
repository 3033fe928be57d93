import { ERROR_CODES, ERRORS, type ErrorCode } from './errors.js';
import type { Operation } from './operation.js';
import { COMMAND_ERRORS, errorsOf, OPERATIONS, ROUTING_ERRORS } from './operations.js';

/** The page `doc_url` points into, in Markdown: what every code means and which operations answer it. */
export function errorPage(): string {
  // Worked out once: the gateway makes this page when it starts.
  const codes = new Map(OPERATIONS.map((operation) => [operation, errorsOf(operation)]));
  const statuses = [...new Set(ERROR_CODES.map((code) => ERRORS[code].status))].sort((a, b) => a - b);
  return [
    '# Error codes',
    '',
    'Every error is `{"error": {"type", "code", "message", "param"?, "doc_url", "details"?, …}}`. Codes are stable; messages may change.',
    'Written by `npm run contracts` from the catalogue in `contracts/src/errors.ts`.',
    ...statuses.flatMap((status) => [
      '',
      `## ${status}`,
      ...ERROR_CODES.filter((code) => ERRORS[code].status === status).flatMap((code) => [
        '',
        `### <a id="${code}"></a>\`${code}\``,
        '',
        `${ERRORS[code].title} Type \`${ERRORS[code].type}\`.`,
        '',
        answeredBy(code, codes),
      ]),
    ]),
    '',
  ].join('\n');
}

function answeredBy(code: ErrorCode, codes: ReadonlyMap<Operation, readonly ErrorCode[]>): string {
  if (COMMAND_ERRORS.includes(code)) return "Told by the operators' commands only.";
  const answering = OPERATIONS.filter((operation) => codes.get(operation)?.includes(code));
  if (answering.length === 0 && ROUTING_ERRORS.includes(code)) return 'Answered where no operation is.';
  if (answering.length === OPERATIONS.length) return 'Answered by every operation.';
  if (answering.length > 12) return `Answered by ${answering.length} operations; each lists its codes in the OpenAPI description.`;
  return answering.map((operation) => `- \`${operation.method} ${operation.path}\``).join('\n');
}
