/**
 * What changed between two texts, for reading: words where the texts are short enough, else lines, else the whole. A word or two that
 * stayed inside a change is told as part of it: `a b c` → `x b y` reads better in one piece than in five.
 */
export interface Piece {
  kind: 'same' | 'removed' | 'added';
  text: string;
}

/** Cells of the table that finds the longest common part: about 20 ms of work. */
const MOST_CELLS = 4_000_000;

export function textDifference(before: string, after: string): Piece[] {
  if (before === after) return before === '' ? [] : [{ kind: 'same', text: before }];
  for (const cut of [wordsOf, linesOf]) {
    const [left, right] = [cut(before), cut(after)];
    if (left.length * right.length <= MOST_CELLS) return joined(bridged(joined(piecesOf(left, right))));
  }
  return joined([
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ]);
}

const wordsOf = (text: string): string[] => text.match(/\s+|\p{N}+(?:[.,]\p{N}+)+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu) ?? [];
const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];

function piecesOf(left: readonly string[], right: readonly string[]): Piece[] {
  let start = 0;
  while (start < left.length && start < right.length && left[start] === right[start]) start++;
  let end = 0;
  while (end < left.length - start && end < right.length - start && left.at(-1 - end) === right.at(-1 - end)) end++;
  const same = (words: readonly string[]): Piece[] => words.map((text) => ({ kind: 'same', text }));
  return [
    ...same(left.slice(0, start)),
    ...middleOf(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    ...same(left.slice(left.length - end)),
  ];
}

/** Longest common subsequence, read from its table of lengths. */
function middleOf(left: readonly string[], right: readonly string[]): Piece[] {
  const width = right.length + 1;
  const lengths = new Uint32Array((left.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = left.length - 1; i >= 0; i--) {
    for (let j = right.length - 1; j >= 0; j--) {
      lengths[i * width + j] = left[i] === right[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  const pieces: Piece[] = [];
  let [i, j] = [0, 0];
  while (i < left.length || j < right.length) {
    const [a, b] = [left[i], right[j]];
    if (a !== undefined && a === b) {
      pieces.push({ kind: 'same', text: a });
      i++;
      j++;
    } else if (a !== undefined && (b === undefined || at(i + 1, j) >= at(i, j + 1))) {
      pieces.push({ kind: 'removed', text: a });
      i++;
    } else {
      pieces.push({ kind: 'added', text: b as string });
      j++;
    }
  }
  return pieces;
}

/** Letters that may stand unchanged between two changes and still be read as part of them. */
const BRIDGE = 4;

function bridged(pieces: readonly Piece[]): Piece[] {
  return pieces.flatMap((piece, index): Piece[] => {
    const inside = index > 0 && index < pieces.length - 1;
    const short = piece.text.trim().length <= BRIDGE && !piece.text.includes('\n');
    if (piece.kind !== 'same' || !inside || !short) return [piece];
    return [
      { kind: 'removed', text: piece.text },
      { kind: 'added', text: piece.text },
    ];
  });
}

/** Neighbours of one kind as one piece; of a run of changes, what went comes before what came. */
function joined(pieces: readonly Piece[]): Piece[] {
  const result: Piece[] = [];
  let removed = '';
  let added = '';
  const flush = () => {
    if (removed !== '') result.push({ kind: 'removed', text: removed });
    if (added !== '') result.push({ kind: 'added', text: added });
    removed = '';
    added = '';
  };
  for (const { kind, text } of pieces) {
    if (kind === 'removed') removed += text;
    else if (kind === 'added') added += text;
    else {
      flush();
      const last = result.at(-1);
      if (last?.kind === 'same') last.text += text;
      else result.push({ kind, text });
    }
  }
  flush();
  return result;
}
