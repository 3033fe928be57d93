/**
 * The net below the rule that nothing secret is logged: looks at each finished line, and opens only those that look suspicious.
 *
 * L1 A member whose name speaks of a credential loses its value, at any depth, in bindings, arguments and errors alike; whether it is set may be said.
 * L2 An API key, a session, link, invitation or device token, or a bearer token inside any text keeps no more than its public prefix.
 * L3 An e-mail address inside any text keeps its domain only.
 */
const CREDENTIAL_NAME =
  /(?:^|[_.-])(?:password|passwd|secret|token|authorization|cookie|api_?key|raw_?key|private_?key|ticket|signature)$/i;
const SUSPICIOUS = /password|passwd|secret|token|authorization|cookie|key"|ticket|signature|gwk_|cs[tlid]_|whsec_|bearer |@/i;
/** What the log of the configuration says in place of a secret. */
const SAYS_WHETHER = new Set<unknown>(['(set)', '(not set)']);
const REDACTED = '[redacted]';

export function redactLine(line: string): string {
  if (!SUSPICIOUS.test(line)) return line;
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return redactText(line);
  }
  return `${JSON.stringify(redactValue(parsed))}\n`;
}

function redactText(text: string): string {
  return text
    .replace(/\b(gwk_[A-Za-z0-9]{8})[A-Za-z0-9_-]+/g, '$1…')
    .replace(/\b(cs[tlid]_)[A-Za-z0-9_-]{16,}/g, '$1…')
    .replace(/\bwhsec_[A-Za-z0-9+/=_-]+/g, `whsec_${REDACTED}`)
    .replace(/\b(bearer )[A-Za-z0-9._~+/=-]+/gi, `$1${REDACTED}`)
    .replace(/[A-Za-z0-9._%+-]{1,64}@([A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+)/g, '…@$1');
}

function redactValue(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value);
  if (Array.isArray(value)) return value.map(redactValue);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, isCredential(name, inner) ? REDACTED : redactValue(inner)]),
  );
}

function isCredential(name: string, value: unknown): boolean {
  if (value === null || typeof value === 'boolean' || SAYS_WHETHER.has(value)) return false;
  return CREDENTIAL_NAME.test(name.replace(/([a-z])([A-Z])/g, '$1_$2'));
}
