/**
 * Markdown nodes as elements, none of whose source is dropped. Reading Markdown drops link definitions and titles, the words after a code
 * fence, the numbers of a list after its first, cells beyond a table's head, and moves footnotes or loses them; here each is shown in its place.
 */
import type { Element, ElementContent, Properties, Text } from 'hast';
import type { Nodes, Parents } from 'mdast';
import { defaultHandlers, type Handlers, type State } from 'mdast-util-to-hast';

const text = (value: string): Text => ({ type: 'text', value });
const element = (tagName: string, properties: Properties, children: ElementContent[]): Element => ({
  type: 'element',
  tagName,
  properties,
  children,
});
const named = (className: string, words: string): Element => element('span', { className: [className] }, [text(words)]);

/** The characters of the text a node was read from. */
function written(state: State, { position }: Nodes): string {
  return String(state.options.file).slice(position?.start.offset, position?.end.offset);
}

const BLOCKS: readonly string[] = ['root', 'blockquote', 'listItem', 'footnoteDefinition'];
const isBlock = (parent: Parents | undefined): boolean => parent !== undefined && BLOCKS.includes(parent.type);

type Definition = { url: string; title?: string | null | undefined };

const link = (state: State, node: Parents, { url, title }: Definition): Element =>
  element('a', title ? { href: url, title } : { href: url }, state.all(node));
const image = (alt: string | null | undefined, { url, title }: Definition): Element =>
  element('img', title ? { src: url, alt: alt ?? '', title } : { src: url, alt: alt ?? '' }, []);

/** What a reference stands for, and its label, which names the definition it leads to. */
function referring(
  found: Element,
  { referenceType, label }: { referenceType: string; label?: string | null | undefined },
): ElementContent[] {
  return referenceType === 'full' ? [found, named('reference', `[${label}]`)] : [found];
}

export const COMPLETE_HANDLERS: Handlers = {
  html: (state, node, parent) => element(isBlock(parent) ? 'div' : 'span', { className: ['raw-html'] }, [text(written(state, node))]),
  definition: (state, node) => element('div', { className: ['definition'] }, [text(written(state, node))]),

  link: (state, node) => link(state, node, node),
  image: (_state, node) => image(node.alt, node),
  linkReference: (state, node) => {
    const found = state.definitionById.get(node.identifier.toUpperCase());
    return found ? referring(link(state, node, found), node) : defaultHandlers.linkReference(state, node);
  },
  imageReference: (state, node) => {
    const found = state.definitionById.get(node.identifier.toUpperCase());
    return found ? referring(image(node.alt, found), node) : defaultHandlers.imageReference(state, node);
  },

  footnoteReference: (_state, node) => named('reference', `[^${node.label}]`),
  footnoteDefinition: (state, node) =>
    element('div', { className: ['footnote'] }, [named('reference', `[^${node.label}]:`), ...state.wrap(state.all(node), true)]),

  code: (state, node) => {
    const info = [node.lang, node.meta].filter((words) => words).join(' ');
    const block = defaultHandlers.code(state, node);
    return info === '' ? block : [element('p', { className: ['code-info'] }, [text(info)]), block];
  },

  listItem: (state, node, parent) => {
    const item = defaultHandlers.listItem(state, node, parent);
    const number = parent?.type === 'list' && parent.ordered ? /^\d+/.exec(written(state, node))?.[0] : undefined;
    if (number !== undefined) item.properties.value = String(Number(number));
    return item;
  },

  table: (state, node) => {
    const widest = Math.max(...node.children.map((row: Parents) => row.children.length));
    const align = Array.from({ length: widest }, (_, column) => node.align?.[column] ?? null);
    return defaultHandlers.table(state, Object.assign(node, { align }));
  },
};
