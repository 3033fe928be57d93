import { Problem } from '@countersign/http';

/** A path of this server and nothing that a browser could take for another one. @throws {Problem} `invalid_return_to`. */
export function checkedReturnTo(returnTo: string | undefined): string | undefined {
  if (returnTo === undefined) return undefined;
  const base = 'http://countersign.invalid';
  const url = URL.parse(returnTo, base);
  const plain = returnTo.startsWith('/') && !/^\/[/\\]/.test(returnTo) && !/[\\\p{Cc}]/u.test(returnTo);
  if (!plain || url?.origin !== base) throw new Problem('invalid_return_to', undefined, { param: 'return_to' });
  return returnTo;
}
