import type { Element, Root, Text } from 'hast';
import { SKIP, visit } from 'unist-util-visit';
import { HIDDEN_CHARACTER, runsOf } from '../review/oddities/invisible.js';

/** Names the hidden characters of a drawn text, as everywhere on the page. */
export function rehypeRevealed() {
  return (tree: Root): void => {
    visit(tree, 'text', (node, index, parent) => {
      const runs = runsOf(node.value);
      if (parent === undefined || index === undefined || runs.every((run) => 'text' in run)) return;
      const revealed = runs.map((run): Element | Text =>
        'text' in run
          ? { type: 'text', value: run.text }
          : {
              type: 'element',
              tagName: 'span',
              properties: { className: ['hidden-character'], title: HIDDEN_CHARACTER },
              children: [{ type: 'text', value: run.hidden }],
            },
      );
      parent.children.splice(index, 1, ...revealed);
      return [SKIP, index + revealed.length];
    });
  };
}
