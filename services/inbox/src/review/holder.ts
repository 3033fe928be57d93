import type { Me, Review } from '@countersign/contracts';

export type Holder = { kind: 'nobody' } | { kind: 'me' } | { kind: 'other'; name: string };

/** Who has the review in hand (`reviewer:<e-mail>` or `role:<role>`): nobody else can decide it. */
export function holderOf(review: Pick<Review, 'held_by'>, me: Pick<Me, 'email'>, role: string): Holder {
  const { held_by } = review;
  if (held_by === null) return { kind: 'nobody' };
  const [, kind, name = held_by] = /^(reviewer|role):(.+)$/.exec(held_by) ?? [];
  if (kind === 'role') return name === role ? { kind: 'me' } : { kind: 'other', name: `the ${name}s` };
  return name === me.email ? { kind: 'me' } : { kind: 'other', name };
}
