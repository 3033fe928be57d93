/**
 * Holds what is drawn of a text against its source: the source's letters, digits and signs beyond ASCII have to be found in what is drawn, in
 * their order. What Markdown spends on its own marks is ASCII punctuation and white space, which do not count.
 */
import type { Nodes, Root } from 'hast';
import { decodeString } from 'micromark-util-decode-string';
import { leadsElsewhere, wordsOf } from './link-words.js';

const COUNTS = /[^\s!-/:-@[-`{-~]|\ufeff/u;

/** Elements that hold characters as they are written; a reference such as `&amp;` is none there. */
const VERBATIM: readonly string[] = ['pre', 'code', 'raw-html', 'definition'];

function shownOf(node: Nodes, verbatim = false): string {
  if (node.type === 'text') return verbatim ? decodeString(node.value) : node.value;
  if (node.type === 'root') return node.children.map((child) => shownOf(child)).join('');
  if (node.type !== 'element') return '';
  const { tagName, properties } = node;
  const names = [tagName, ...(Array.isArray(properties.className) ? properties.className.map(String) : [])];
  const inside = node.children.map((child) => shownOf(child, verbatim || names.some((name) => VERBATIM.includes(name)))).join('');
  switch (tagName) {
    case 'a':
      return inside + (leadsElsewhere(wordsOf(node), String(properties.href)) ? `${properties.href}` : '') + (properties.title ?? '');
    case 'img':
      return `${properties.alt}${properties.src}${properties.title ?? ''}`;
    case 'li':
      return `${properties.value ?? ''}${inside}`;
    case 'input':
      return properties.checked ? 'xX' : '';
    default:
      return inside;
  }
}

/** The first line of the source something of which is not drawn, counted from 1; null where all of it is. */
function firstUnshownLine(source: string, drawn: Root): number | null {
  const shown = Array.from(shownOf(drawn));
  let at = 0;
  for (const [index, line] of source.split(/\r\n|\n|\r/).entries()) {
    for (const character of decodeString(line)) {
      if (!COUNTS.test(character)) continue;
      while (at < shown.length && shown[at] !== character) at++;
      if (at === shown.length) return index + 1;
      at++;
    }
  }
  return null;
}

/** Says above a drawn text that something of it is not drawn, and shows the source. */
export function rehypeUnshown() {
  return (tree: Root, file: { toString(): string }): void => {
    const source = String(file);
    const line = firstUnshownLine(source, tree);
    if (line === null) return;
    tree.children.unshift({
      type: 'element',
      tagName: 'aside',
      properties: { className: ['unshown'] },
      children: [
        {
          type: 'element',
          tagName: 'p',
          properties: {},
          children: [
            {
              type: 'text',
              value: `Parts of this text are not visible in the rendered view, first on line ${line}. The source below is what you approve:`,
            },
          ],
        },
        {
          type: 'element',
          tagName: 'pre',
          properties: { className: ['value-source'] },
          children: [{ type: 'text', value: source }],
        },
      ],
    });
  };
}
