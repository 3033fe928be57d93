import type { Nodes } from 'hast';

/** The words of a drawn node. */
export function wordsOf(node: Nodes): string {
  if (node.type === 'text') return node.value;
  return 'children' in node ? node.children.map(wordsOf).join('') : '';
}

/** Whether a link's words leave open where it leads. */
export function leadsElsewhere(words: string, address: string): boolean {
  return words !== address && `mailto:${words}` !== address;
}
