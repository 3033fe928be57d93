/**
 * Why this process does not start (or a command does not run), in one sentence for the person at the keyboard: what is wrong and what to do.
 * Anything else that is thrown is a bug and shown with its stack.
 */
export class CannotStart extends Error {
  override readonly name = 'CannotStart';
}

/** The `code` of a system error such as `EACCES`; undefined for anything else. */
export function systemCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : undefined;
}
