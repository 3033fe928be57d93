import type { Root } from 'hast';
import { visit } from 'unist-util-visit';

/** Headings of a text stand below one of the page, each a level under the one it belongs to, whichever levels the text leaves out. */
export function rehypeHeadings({ below }: { below: number }) {
  return (tree: Root): void => {
    const open: number[] = [];
    visit(tree, 'element', (element) => {
      const level = Number(/^h([1-6])$/.exec(element.tagName)?.[1]);
      if (Number.isNaN(level)) return;
      while (Number(open.at(-1)) >= level) open.pop();
      open.push(level);
      element.tagName = `h${Math.min(6, below + open.length)}`;
    });
  };
}
