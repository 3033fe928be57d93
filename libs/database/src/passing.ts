/** SQLSTATE classes and codes that speak of the server or of other transactions, not of the statement: connections, resources, shutdown, conflicts. */
const STATES = /^(08|53|58|57P|40001|40P01|40003|55P03|55006|57014|25006|25P0[34])/;
/** What sockets and undici call an answer that did not come. */
const CODES =
  /^(ECONNREFUSED|ECONNRESET|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_AGAIN|UND_ERR_(SOCKET|CLOSED|DESTROYED|\w+_TIMEOUT))$/;
/** What `pg` says without a code. */
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|timeout expired|Client has encountered a connection error|Client was closed|Query read timeout)/;
/** Serialization failure and deadlock: PostgreSQL undid the transaction and asks for another try. */
const CONFLICTS = new Set(['40001', '40P01']);
const DEPTH = 5;

/** It could not be done for a reason that passes: the same may be asked again. An edge answers 503 with `Retry-After`, a consumer tries again. */
export class Retryable extends Error {
  override readonly name: string = 'Retryable';
  constructor(
    message: string,
    readonly options: { retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
  }
}

/** Whether PostgreSQL undid a transaction for the sake of another: nothing was stored, the connection is well, and the same may be sent again. */
export const isConflict = (error: unknown): boolean => CONFLICTS.has(String((error as { code?: unknown } | null)?.code));

/** An error, then what caused it, and so on. */
function* causes(error: unknown): Generator<Error> {
  for (let one = error, depth = 0; one instanceof Error && depth <= DEPTH; one = one.cause, depth++) yield one;
}

function passes(error: Error): boolean {
  const { code } = error as { code?: unknown };
  return (
    error instanceof Retryable || MESSAGES.test(error.message) || (typeof code === 'string' && (STATES.test(code) || CODES.test(code)))
  );
}

/**
 * Whether a failure, or one of its causes, passes without anybody changing anything: somebody threw `Retryable`, the database or the network
 * is out of reach, or other transactions were in the way. What fails so is tried again; nothing is to blame for it. The one answer to this
 * question: whoever asks whether to try again asks here.
 * @param also errors of the caller's own that pass, too.
 */
export function isPassing(error: unknown, also: (error: Error) => boolean = () => false): boolean {
  for (const one of causes(error)) if (also(one) || passes(one)) return true;
  return false;
}

/** How long a failure that passes asks to be left alone, in milliseconds; undefined where it does not say. */
export function retryAfterOf(error: unknown): number | undefined {
  for (const one of causes(error)) if (one instanceof Retryable && one.options.retryAfterMs !== undefined) return one.options.retryAfterMs;
  return undefined;
}
