import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ValidExample {
  name: string;
  value: unknown;
}

/** A value that must be refused, and the issue it must be refused with. */
export interface InvalidExample extends ValidExample {
  why: string;
  issue: { path: string; code: string };
}

export interface Examples {
  valid: ValidExample[];
  invalid: InvalidExample[];
}

/** `review.decided.v1` → `review.decided/v1`; a message without a version in its name is at `v1`. */
export function folderOf(messageId: string): string {
  const [, name, version] = /^(.+)\.(v\d+)$/.exec(messageId) ?? [];
  return name === undefined || version === undefined ? join(messageId, 'v1') : join(name, version);
}

/** The examples of a message, in the order of their names. */
export function examplesOf(root: string, messageId: string): Examples {
  const read = (kind: string) => {
    const folder = join(root, folderOf(messageId), kind);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
      .sort()
      .map((file) => ({ name: file.replace(/\.json$/, ''), value: JSON.parse(readFileSync(join(folder, file), 'utf8')) as unknown }));
  };
  return {
    valid: read('valid'),
    invalid: read('invalid').map(({ name, value }) => ({ name, ...(value as Omit<InvalidExample, 'name'>) })),
  };
}
