import { OPERATIONS, type Operation } from '@countersign/contracts';

/** The path of an operation with its parameters filled in, each as one encoded segment. */
export function fillPath(template: string, params: Readonly<Record<string, string>> = {}): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`The path ${template} needs ${name}.`);
    return encodeURIComponent(value);
  });
}

/** A query with arrays as repeated keys; absent members are left out. Empty, or begins with `?`. */
export function queryText(query: Readonly<Record<string, unknown>> = {}): string {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const item of Array.isArray(value) ? value : [value]) if (item !== undefined && item !== null) text.append(name, String(item));
  }
  return text.size === 0 ? '' : `?${text}`;
}

let patterns: { operation: Operation; pattern: RegExp; literal: number }[] | undefined;

/** The operation a request is for, or undefined. A literal segment wins over a parameter, as in the routers. */
export function findOperation(method: string, path: string): Operation | undefined {
  patterns ??= OPERATIONS.map((operation) => ({
    operation,
    pattern: new RegExp(`^${operation.path.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/\{\w+\}/g, '[^/]+')}$`),
    literal: operation.path.replace(/\{\w+\}/g, '').length,
  })).sort((a, b) => b.literal - a.literal);
  const bare = path.split('?', 1)[0] ?? '';
  return patterns.find(({ operation, pattern }) => operation.method === method && pattern.test(bare))?.operation;
}
