/** Who reads, and what of it. */
import type { Actor } from '@countersign/contracts';
import { Problem, type Seen } from '@countersign/http';
import type { AuditContext } from './deps.js';
import { AUDIT_PROJECTION } from './projection.js';

/** How long a list waits for the caller's own last write (K14), in milliseconds. */
const OWN_WRITE_WAIT = 1_000;

export async function ownWrite({ bus }: Pick<AuditContext, 'bus'>, seen: readonly Seen[]): Promise<void> {
  await Promise.all(seen.map(({ position, bucket }) => bus.caughtUp(AUDIT_PROJECTION.name, position, bucket, OWN_WRITE_WAIT)));
}

/** The project the request works in: the key's, or the one the person chose. */
export function projectOf(actor: Actor): string {
  if (actor.kind === 'anonymous') throw new Error('The gateway let an anonymous caller through.');
  return actor.project_id;
}

/** Templates a key is limited to; null = all (decision 15). */
export function templatesOf(actor: Actor): readonly string[] | null {
  return actor.kind === 'agent' ? actor.template_ids : null;
}

/**
 * The log is the whole project's, what was asked of every template included, and so is how much of it there is: it is not for a key that is
 * limited to some (decision 15).
 * @throws {Problem} `template_not_allowed`.
 */
export function mayReadLog(actor: Actor): void {
  if (templatesOf(actor) === null) return;
  throw new Problem(
    'template_not_allowed',
    'The audit log covers the whole project; an API key limited to certain templates cannot read it.',
  );
}
