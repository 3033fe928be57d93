import { pointerStep } from './canonical.js';

type JsonObject = Record<string, unknown>;

const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether two JSON values are the same value; the order of members says nothing. */
export function equalJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((item, i) => equalJson(item, b[i]));
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]));
}

/**
 * JSON pointers at which two JSON values differ, at most `limit` of them, in document order (members by code unit, items by index).
 * A member or item only one side has is one path; so are two values of different kinds. The root is the empty pointer.
 */
export function differingPaths(a: unknown, b: unknown, limit = 100): string[] {
  const paths: string[] = [];
  const walk = (x: unknown, y: unknown, path: string): void => {
    if (paths.length >= limit || x === y) return;
    if (Array.isArray(x) && Array.isArray(y)) {
      for (let i = 0; i < Math.max(x.length, y.length) && paths.length < limit; i++) {
        if (i < x.length && i < y.length) walk(x[i], y[i], path + pointerStep(i));
        else paths.push(path + pointerStep(i));
      }
    } else if (isObject(x) && isObject(y)) {
      for (const key of [...new Set([...Object.keys(x), ...Object.keys(y)])].sort()) {
        if (paths.length >= limit) return;
        if (Object.hasOwn(x, key) && Object.hasOwn(y, key)) walk(x[key], y[key], path + pointerStep(key));
        else paths.push(path + pointerStep(key));
      }
    } else {
      paths.push(path);
    }
  };
  walk(a, b, '');
  return paths;
}
