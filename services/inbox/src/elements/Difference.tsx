import type { Piece } from '../review/difference/text-difference.js';
import { Revealed } from './Revealed.js';

const WORDS = { removed: 'removed', added: 'added' };

/** Two texts in one: what went struck through, what came underlined, each said to those who do not see it. */
export function Difference({ pieces }: { pieces: readonly Piece[] }) {
  return (
    <p className="difference">
      {pieces.map(({ kind, text }, index) => {
        const key = `${index}`;
        if (kind === 'same') return <Revealed key={key} text={shortened(text, index, pieces.length)} />;
        const Element = kind === 'removed' ? 'del' : 'ins';
        return (
          <Element key={key}>
            <span className="visually-hidden">{` ${WORDS[kind]}: `}</span>
            <Revealed text={text} />
            <span className="visually-hidden"> </span>
          </Element>
        );
      })}
    </p>
  );
}

/** Characters of an unchanged stretch that are shown on each side of a change. */
const CONTEXT = 160;

function shortened(text: string, index: number, count: number): string {
  if (text.length <= CONTEXT * 2 + 20) return text;
  const head = index === 0 ? '' : text.slice(0, CONTEXT);
  const tail = index === count - 1 ? '' : text.slice(-CONTEXT);
  return `${head} […] ${tail}`;
}
