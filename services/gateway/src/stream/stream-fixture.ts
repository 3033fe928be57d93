/** Facts of reviews to be told on the stream, and a client that listens to it. */
import { get, type IncomingMessage } from 'node:http';
import type { PersonRef, ReviewEvent, ReviewFrame } from '@countersign/contracts';
import { type EventStore, newId } from '@countersign/event-store';

export const MAYA: PersonRef = { kind: 'person', id: newId('per'), email: 'maya@example.com' };
const DIGEST = `sha256:${'a'.repeat(64)}`;
type Body<T extends ReviewEvent['type']> = Extract<ReviewEvent, { type: T }>['body'];

export function requested(changes: Partial<Body<'review.requested'>> & { template_id?: string } = {}): ReviewEvent {
  const { template_id = newId('tpl'), ...rest } = changes;
  return {
    type: 'review.requested',
    body: {
      template: {
        id: template_id,
        slug: 'email',
        version: 1,
        name: 'E-mail',
        instructions: null,
        auto_approve: false,
        allow_request_changes: true,
        allow_notes: true,
      },
      fields: [],
      actions: [],
      payload: {},
      payload_digest: DIGEST,
      priority: 'normal',
      confidence: null,
      irreversibility: null,
      oversight: 'blocking',
      assignee: null,
      metadata: null,
      callback_url: null,
      trace_url: null,
      timeout: null,
      changes_timeout_seconds: null,
      approval_valid_seconds: null,
      max_iterations: null,
      idempotency_key: null,
      requester: { key_id: newId('key'), key_prefix: 'gwk_aaaaaaaa', name: 'agent', owner: null },
      on_behalf_of: null,
      ...rest,
    },
  };
}

const act = (id: string, kind: 'decision' | 'iteration' | 'side_effect') => ({
  action: { id, label: id, kind },
  by: MAYA,
  proof: { method: 'password' as const, session_id: newId('ses'), authenticated_seconds_ago: 5 },
  shown: { basis: 'exact' as const, version: 1, digest: DIGEST },
  feedback: null,
  edited_payload: null,
});

export function decided(changes: Partial<Body<'review.decided'>> = {}): ReviewEvent {
  const { by, ...said } = act('approve', 'decision');
  return {
    type: 'review.decided',
    body: {
      ...said,
      decision: 'approved',
      version: 1,
      decided_by: by,
      acted_by: null,
      trigger: 'action',
      after_seconds: null,
      approved_value: {},
      approved_digest: DIGEST,
      changed_keys: [],
      prompt_edit: null,
      held_by: null,
      ...changes,
    },
  };
}

export const changesRequested = (): ReviewEvent => ({
  type: 'review.changes_requested',
  body: {
    ...act('request_changes', 'iteration'),
    feedback: 'shorter',
    prompt_edit: null,
    webhook_event: null,
    changes_timeout_seconds: null,
  },
});

export const resubmitted = (version: number): ReviewEvent => ({
  type: 'review.resubmitted',
  body: {
    version,
    payload: {},
    payload_digest: DIGEST,
    by: { kind: 'agent', key_id: newId('key'), key_prefix: 'gwk_aaaaaaaa' },
    owner: null,
  },
});

export const claimed = (email = MAYA.email): ReviewEvent => ({ type: 'review.claimed', body: { by: { ...MAYA, email }, previous: null } });

export async function append(store: EventStore, project: string, stream: string, ...events: ReviewEvent[]): Promise<void> {
  const result = await store.append({ streams: [{ stream, project, expectedVersion: 'any', events }], meta: {} });
  if (result.status !== 'appended') throw new Error(`The test's events were not appended: ${result.status}.`);
}

export interface ToldFrame {
  id: string | null;
  data: ReviewFrame | { type: 'open' | 'reset' };
}

/** A client of the stream that keeps everything it is told. */
export class Listener {
  readonly frames: ToldFrame[] = [];
  text = '';
  ended = false;
  #rest = '';
  readonly #watchers = new Set<() => void>();

  private constructor(readonly response: IncomingMessage) {
    response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
    const end = () => {
      this.ended = true;
      this.#told();
    };
    response.on('end', end).on('close', end).on('error', end);
  }

  static async open(url: string, headers: Record<string, string> = {}): Promise<Listener> {
    const response = await new Promise<IncomingMessage>((resolve, reject) =>
      get(url, { headers, agent: false }, resolve).on('error', reject),
    );
    return new Listener(response);
  }

  get status(): number | undefined {
    return this.response.statusCode;
  }

  get lastId(): string {
    return this.frames.findLast(({ id }) => id !== null)?.id ?? '';
  }

  types(): string[] {
    return this.frames.map(({ data }) => data.type);
  }

  of(reviewId: string): string[] {
    return this.frames.flatMap(({ data }) => ('review_id' in data && data.review_id === reviewId ? [data.type] : []));
  }

  /** Waits for a condition over what was told. */
  async until(condition: (listener: Listener) => boolean, what: string): Promise<this> {
    const deadline = AbortSignal.timeout(30_000);
    while (!condition(this)) {
      if (deadline.aborted) throw new Error(`Not told in time: ${what}. Told: ${this.types().slice(-20).join(', ')}.`);
      await new Promise<void>((resolve) => {
        const done = () => {
          this.#watchers.delete(done);
          deadline.removeEventListener('abort', done);
          resolve();
        };
        this.#watchers.add(done);
        deadline.addEventListener('abort', done);
      });
    }
    return this;
  }

  close(): void {
    this.response.destroy();
  }

  #read(text: string): void {
    this.text += text;
    this.#rest += text;
    for (let end = this.#rest.indexOf('\n\n'); end >= 0; end = this.#rest.indexOf('\n\n')) {
      this.#keep(this.#rest.slice(0, end).split('\n'));
      this.#rest = this.#rest.slice(end + 2);
    }
    this.#told();
  }

  #keep(lines: string[]): void {
    const field = (name: string) => lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2);
    const data = field('data');
    if (data !== undefined) this.frames.push({ id: field('id') ?? null, data: JSON.parse(data) });
  }

  #told(): void {
    for (const watcher of this.#watchers) watcher();
  }
}
