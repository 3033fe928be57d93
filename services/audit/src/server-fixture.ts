/** The audit service over a real database, event store and bus; reviews are made by the real rules. */
import {
  type Actor,
  CATEGORY_PREFIXES,
  type DraftReply,
  type OperationId,
  operationOf,
  type ReviewEvent,
  validateEvent,
} from '@countersign/contracts';
import { StoreEventBus } from '@countersign/event-bus';
import { handle, newId, PostgresEventStore } from '@countersign/event-store';
import { checkAnswers, injectTransport, type ServiceApps, ServiceClient, type ServiceTransport } from '@countersign/http';
import { type Judged, type ReviewState, request, reviewFold, reviewMeta } from '@countersign/review';
import { type Asked, agent, PAYLOAD, PROJECT, template } from '@countersign/review/fixture';
import { createLogger } from '@countersign/telemetry';
import { defaultSets, testDatabase } from '@countersign/testing';
import { AUDIT_MIGRATIONS, createAuditApp } from './index.js';

const IDENTITY_KEY = 'a key for tests that is long enough to be one';

export type Server = Awaited<ReturnType<typeof startServer>>;

export async function startServer() {
  const db = await testDatabase({ sets: [...defaultSets(), AUDIT_MIGRATIONS] });
  const logger = createLogger({ service: 'audit', level: 'silent' });
  const store = new PostgresEventStore({ pool: db.pool, writer: 'test', categories: CATEGORY_PREFIXES, validate: validateEvent });
  const bus = new StoreEventBus({ pool: db.pool, store, connectionString: db.appUrl, logger });
  const apps: ServiceApps = {};
  const drafts = new Map<string, NonNullable<DraftReply['draft']>>();
  const transport = withDrafts(
    injectTransport(() => apps),
    drafts,
  );
  const client = new ServiceClient({ transport, identityKey: IDENTITY_KEY, check: checkAnswers() });
  const app = await createAuditApp({
    store,
    pool: db.pool,
    databaseUrl: db.ownerUrl,
    bus,
    client,
    logger,
    identityKey: IDENTITY_KEY,
    ready: async () => ({}),
  });
  apps.audit = app;

  /** Position and bucket of the newest write, as a client sends them back. */
  let seen = '';

  /** Runs a command on a review as its service would. */
  async function decide(review: string, actor: Actor | null, command: (state: ReviewState, now: string) => Judged, project = PROJECT) {
    const handled = await handle<ReviewState, ReviewEvent>(store, {
      stream: review,
      project,
      fold: reviewFold,
      decide: command,
      meta: reviewMeta({ actor, request_id: 'test-request' }),
    });
    if (handled.refusal) throw new Error(`${handled.refusal.code}: ${handled.refusal.message}`);
    const last = handled.events.at(-1);
    if (last) seen = `${handled.position}.${last.bucket}`;
    return handled;
  }

  return {
    db,
    store,
    bus,
    decide,
    seen: () => seen,
    /** Unsent edits, as the service that keeps them answers. */
    drafts,

    /** A review is requested; its id. */
    async ask({ config, body, actor = agent }: Asked & { slug?: string } = {}, more: Parameters<typeof template>[1] = {}): Promise<string> {
      const review_id = newId('rev');
      const named = template(config, more);
      const command = { review_id, actor, template: named, body: { template: named.slug, payload: PAYLOAD, ...body }, on_behalf_of: null };
      await decide(review_id, actor, (state, now) => request(command, state, now), named.project_id);
      return review_id;
    },

    /** Asks the service as the gateway would, after the test's last write has been projected. */
    async call<T = Record<string, unknown>>(
      id: OperationId,
      options: { actor?: Actor; path?: Record<string, string>; query?: string } = {},
    ) {
      const { method, path } = operationOf(id);
      const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => options.path?.[name] ?? '');
      return client.call<T>('audit', {
        method,
        path: options.query ? `${filled}?${options.query}` : filled,
        actor: options.actor ?? agent,
        request_id: 'test-request',
        headers: seen ? { 'countersign-seen': seen } : {},
      });
    },

    /** The answer as it came, with request headers of one's own. */
    raw(path: string, headers: Record<string, string> = {}) {
      return client.forward('audit', { method: 'GET', path, actor: agent, request_id: 'test-request', headers });
    },

    async close() {
      await app.close();
      await bus.close();
      await store.close();
      await db.close();
    },
  };
}

/** The decisions service's answer, as its internal route gives it. */
function withDrafts(within: ServiceTransport, drafts: ReadonlyMap<string, NonNullable<DraftReply['draft']>>): ServiceTransport {
  return {
    async send(service, request) {
      if (service !== 'decisions') return within.send(service, request);
      const [, review = ''] = /^\/internal\/reviews\/(\w+)\/draft$/.exec(request.path) ?? [];
      const reply: DraftReply = { draft: drafts.get(review) ?? null };
      return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(reply)) };
    },
    close: () => within.close(),
  };
}
