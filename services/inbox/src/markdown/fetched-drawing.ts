import { type ComponentType, type LazyExoticComponent, lazy } from 'react';

type Drawing = LazyExoticComponent<ComponentType<{ text: string; below: number }>>;

/** What draws markdown did not come: a fault of the way here, not of the text. */
export class NotFetched extends Error {
  override readonly name = 'NotFetched';
}

/** Only reviews with such a field fetch what draws it. */
const fetched = (): Drawing =>
  lazy(async () => {
    const module = await import('./DrawnMarkdown.js').catch((cause: unknown) => {
      throw new NotFetched('The part of the page that renders markdown could not be fetched.', { cause });
    });
    return { default: module.DrawnMarkdown };
  });

let latest = fetched();

/** What the fields of a page share. */
export const drawing = (): Drawing => latest;

/** Asks for it anew: a lazy component remembers for good that it was not to be had. */
export function drawingAnew(): Drawing {
  latest = fetched();
  return latest;
}
