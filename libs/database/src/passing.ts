/** SQLSTATE classes and codes that speak of the server or of other transactions, not of the statement: connections, resources, shutdown, conflicts. */
const STATES = /^(08|53|58|57P|40001|40P01|40003|55P03|55006|57014|25006|25P0[34])/;
const CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'ENOTFOUND', 'EAI_AGAIN']);
const MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|Client was closed|Query read timeout)/;
const DEPTH = 5;

/**
 * Whether a failure, or one of its causes, passes without anybody changing anything: the database or the network is out of reach, or other
 * transactions were in the way. What fails so is tried again; nothing is to blame for it.
 * @param also errors of the caller's own that pass, too.
 */
export function isPassing(error: unknown, also: (error: Error) => boolean = () => false): boolean {
  for (let one = error, depth = 0; one instanceof Error && depth <= DEPTH; one = one.cause, depth++) {
    const code = (one as { code?: unknown }).code;
    if (also(one) || MESSAGES.test(one.message)) return true;
    if (typeof code === 'string' && (STATES.test(code) || CODES.has(code))) return true;
  }
  return false;
}
