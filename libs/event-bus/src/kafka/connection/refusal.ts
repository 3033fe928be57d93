import type { KafkaSettings } from './client.js';

/** What waiting does not cure: a password, a certificate, the shape of a topic. The message tells, in one sentence, what to change. */
export class KafkaRefusedError extends Error {
  override readonly name = 'KafkaRefusedError';
}

/** Of a certificate that is not to be trusted, as Node names the reasons. */
const UNTRUSTED =
  /^(SELF_SIGNED_CERT_IN_CHAIN|DEPTH_ZERO_SELF_SIGNED_CERT|UNABLE_TO_(VERIFY_LEAF_SIGNATURE|GET_ISSUER_CERT(_LOCALLY)?)|CERT_\w+|ERR_TLS_CERT_ALTNAME_INVALID)$/;
/** Of brokers that have other ways to sign in, or none at that address. */
const OTHER_SIGN_IN = /^(UNSUPPORTED_SASL_MECHANISM|ILLEGAL_SASL_STATE)$/;

interface ClientError {
  name: string;
  message: string;
  /** Of the system, or of TLS. */
  code?: string | number;
  /** Of the broker. */
  type?: string;
  /** The broker says that it passes. */
  retriable?: boolean;
}

/** @returns the refusal an error of the client comes from, or the error itself when another try may go through. */
export function refusalOf(error: unknown, { brokers, sasl }: KafkaSettings): unknown {
  const where = `Kafka at ${brokers.join(', ')}`;
  for (const { name, code, type, message } of causesOf(error)) {
    if (name === 'KafkaJSSASLAuthenticationError' || OTHER_SIGN_IN.test(type ?? '')) {
      const user = sasl && 'username' in sasl ? `the user ${sasl.username} or its password` : 'this client';
      return new KafkaRefusedError(`${where} does not accept ${user}: check KAFKA_USERNAME, KAFKA_PASSWORD and KAFKA_SASL_MECHANISM.`, {
        cause: error,
      });
    }
    if (UNTRUSTED.test(String(code))) {
      const reason = message.replace(/^Connection error: |;.*$/g, '');
      return new KafkaRefusedError(
        `The certificate of ${where} is not trusted (${reason}): name the authority that issued it in KAFKA_CA_FILE, and the brokers as it names them.`,
        { cause: error },
      );
    }
  }
  return error;
}

/** Of brokers that expect another protocol on the port, or somebody who signs in: they hang up without an answer, as some do that restart. */
const HUNG_UP = /^(ECONNRESET|EPIPE|EPROTO|ERR_SSL_\w+)$/;

/** @returns what may be wrong when trying does not help: the brokers are there and hang up. Null for any other failure. */
export function suspicionOf(error: unknown, { brokers, tls, sasl }: KafkaSettings): string | null {
  const hungUp = [...causesOf(error)].some(({ name, code }) => name === 'KafkaJSConnectionClosedError' || HUNG_UP.test(String(code)));
  if (!hungUp) return null;
  const protocol = tls ? 'may not speak TLS (KAFKA_TLS is on)' : 'may expect TLS (KAFKA_TLS is off)';
  const signIn = sasl ? '' : ', or expect a user and password (KAFKA_USERNAME is not set)';
  return `Kafka at ${brokers.join(', ')} closes every connection without an answer: it ${protocol}${signIn}.`;
}

/** Whether it is what brokers answer while they start or hand over: the next tries go through. */
export const isPassing = (error: unknown): boolean =>
  [...causesOf(error)].some(({ name, retriable }) => name === 'KafkaJSProtocolError' && retriable === true);

/** A failure for the log: the client's own in its words, since its stack tells nothing; anything else whole. */
export const faultOf = (error: unknown): { reason: string } | { err: unknown } =>
  error instanceof Error && error.name.startsWith('KafkaJS') ? { reason: `${error.name}: ${error.message}` } : { err: error };

function* causesOf(error: unknown): Generator<ClientError> {
  for (let cause = error; typeof cause === 'object' && cause !== null; cause = (cause as Error).cause) yield cause as ClientError;
}
