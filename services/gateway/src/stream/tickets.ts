import { createHash, randomBytes } from 'node:crypto';
import type { AgentActor, PersonActor } from '@countersign/contracts';
import { Problem } from '@countersign/http';
import type { Pool } from 'pg';
import type { DirectoryClient } from '../admission/directory-client.js';

/** Seconds a ticket is good for (HRP §6.3). */
const TICKET_SECONDS = 60;

/**
 * One-time tickets for the stream, for callers that cannot send a header. In PostgreSQL, so that they outlive a restart and are good at every
 * gateway; only the hash is kept. Whom a ticket stands for is asked anew when it is used.
 */
export class Tickets {
  constructor(
    private readonly pool: Pool,
    private readonly directory: DirectoryClient,
  ) {}

  async issue(actor: AgentActor | PersonActor): Promise<{ ticket: string; expires_in: number }> {
    const ticket = randomBytes(24).toString('hex');
    const [keyId, sessionId] = actor.kind === 'agent' ? [actor.key_id, null] : [null, actor.session_id];
    await this.pool.query(
      `with ended as (delete from gateway.stream_tickets where expires_at < event_store.now())
       insert into gateway.stream_tickets (hash, key_id, session_id, expires_at)
       values ($1, $2, $3, event_store.now() + $4 * interval '1 second')`,
      [hashOf(ticket), keyId, sessionId, TICKET_SECONDS],
    );
    return { ticket, expires_in: TICKET_SECONDS };
  }

  /** Uses a ticket up. @throws {Problem} `invalid_ticket` when it is unknown, used or expired, or when its credential was revoked since. */
  async redeem(ticket: string, requestId: string): Promise<AgentActor | PersonActor> {
    if (!/^[0-9a-f]{48}$/.test(ticket)) throw new Problem('invalid_ticket');
    const { rows } = await this.pool.query<{ key_id: string | null; session_id: string | null; valid: boolean }>(
      'delete from gateway.stream_tickets where hash = $1 returning key_id, session_id, expires_at > event_store.now() as valid',
      [hashOf(ticket)],
    );
    const row = rows[0];
    if (!row?.valid) throw new Problem('invalid_ticket');
    const { agents, people } = await this.directory.actors(
      { key_ids: row.key_id ? [row.key_id] : [], session_ids: row.session_id ? [row.session_id] : [] },
      requestId,
    );
    const actor = agents[0] ?? people[0];
    if (!actor) throw new Problem('invalid_ticket');
    return actor;
  }
}

function hashOf(ticket: string): Buffer {
  return createHash('sha256').update(ticket).digest();
}
