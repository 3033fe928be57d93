/** Texts that would hold up the page for seconds, or for ever, are not drawn: an agent must not keep a person from reading what it asks. */

const MOST_CHARACTERS = 30_000;
/** Of the marks a line begins with, which make its depth in quotes and lists. */
const MOST_MARKS = 200;
/** A table has as many cells in each row as its widest one. */
const MOST_CELLS = 20_000;

/** Signs of emphasis, strikethrough and links are matched each with each of the same paragraph. */
const MOST_SIGNS_IN_PARAGRAPH = 1_000;
const MOST_SIGNS = 3_000;

/** Why a text is not drawn; null where it can be. */
export function whyUndrawn(text: string): string | null {
  if (text.length > MOST_CHARACTERS) return 'This text is too long to be rendered.';
  const lines = text.split(/\r\n|\n|\r/);
  const marks = Math.max(...lines.map((line) => /^[\s>*+\-\d.)]*/.exec(line)?.[0].length ?? 0));
  if (marks > MOST_MARKS) return 'This text is nested too deeply to be rendered.';
  const widest = Math.max(...lines.map((line) => line.split('|').length));
  if (widest * lines.length > MOST_CELLS && widest > 2) return 'A table in this text is too large to be rendered.';
  const signs = text.split(/(?:\r\n|\n|\r)[ \t]*(?:\r\n|\n|\r)/).map((paragraph) => paragraph.match(/[*_~[]/g)?.length ?? 0);
  if (Math.max(...signs) > MOST_SIGNS_IN_PARAGRAPH || signs.reduce((sum, count) => sum + count, 0) > MOST_SIGNS) {
    return 'This text has too much markup to be rendered.';
  }
  return null;
}
