/** What a review is about, in one line: for the list, for titles and for asking again before something irreversible. */
import type { Review, TemplateField } from '@countersign/contracts';

type Described = Pick<Review, 'payload' | 'approved_value' | 'template_fields' | 'template' | 'template_slug'>;

/** Names that usually hold what a thing is called, best first. */
const TITLES = ['title', 'subject', 'summary', 'headline', 'name', 'description'];
const LONGEST = 140;

export function templateNameOf(review: Pick<Review, 'template' | 'template_slug'>): string {
  return review.template?.name ?? review.template_slug;
}

/** The line, and what else says which one it is: of what was approved, where something was. */
export function summaryOf(review: Described): { title: string; detail: string } {
  const value = review.approved_value ?? review.payload;
  const texts = review.template_fields.flatMap((field) => {
    const text = lineOf(field, value[field.name]);
    return text === '' ? [] : [{ field, text }];
  });
  const plain = texts.filter(({ field }) => field.type === 'text');
  const title = TITLES.map((name) => plain.find(({ field }) => field.name === name)).find((found) => found) ?? plain[0] ?? texts[0];
  const detail = texts
    .filter((candidate) => candidate !== title)
    .slice(0, 2)
    .map(({ field, text }) => `${field.label}: ${text}`)
    .join(' · ');
  return { title: title?.text ?? templateNameOf(review), detail };
}

function lineOf(field: TemplateField, value: unknown): string {
  if (value === undefined || value === null || field.type === 'image' || field.type === 'video') return '';
  if (field.type === 'boolean') return value === true ? 'yes' : 'no';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const line = (field.type === 'markdown' ? text.replace(/[#>*_`~]+/g, '') : text).replace(/\s+/g, ' ').trim();
  return line.length > LONGEST ? `${line.slice(0, LONGEST - 1).trimEnd()}…` : line;
}

/** How often changes were requested: once for each version after the first, and once where the agent has not answered. */
export function changeRequestsOf({ iteration_count, change_request }: Pick<Review, 'iteration_count' | 'change_request'>): number {
  return iteration_count + (change_request === null ? 0 : 1);
}

/** Keys of the payload that its template does not declare (decision 8). */
export function undeclaredKeys(review: Pick<Review, 'payload' | 'template_fields'>): string[] {
  const declared = new Set(review.template_fields.map((field) => field.name));
  return Object.keys(review.payload).filter((key) => !declared.has(key));
}
