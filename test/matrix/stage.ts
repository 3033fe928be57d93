/** Real objects in every state, made on demand through the product's own routes. */
import type { Review, ReviewCreate, Template, TemplateCreate } from '@countersign/contracts';
import { until } from '@countersign/platform/fixture';
import { Caller, DRAFT } from '../e2e/server.js';
import { type Cast, emailOf, PASSWORD, tokenOf } from './actors.js';
import type { Attempt } from './attempt.js';

const FIELDS: TemplateCreate['fields'] = [
  { name: 'to', type: 'text', label: 'To', required: true },
  { name: 'subject', type: 'text', label: 'Subject', required: true, editable: true },
  { name: 'body', type: 'markdown', label: 'Body', editable: true },
];
const ACTIONS: TemplateCreate['actions'] = ['approve', 'reject', 'request_changes', { id: 'ping', label: 'Ping', kind: 'side_effect' }];

/** Each lets something other than a person approve (decision 10). */
export const SELF_DECIDING = {
  'approves by itself': { auto_approve: true },
  'approves by the clock': { timeout_seconds: 3_600, timeout_action: 'auto_approve' },
  'lets requests approve by the clock': { allow_timeout_auto_approve: true },
} as const satisfies Record<string, Partial<TemplateCreate>>;
export type SelfDeciding = keyof typeof SELF_DECIDING;

export class Stage {
  #made = 0;
  #delivery: Promise<string> | null = null;
  readonly #templates = new Map<string, Promise<Template>>();

  constructor(readonly cast: Cast) {}

  slug(): string {
    return `made-${++this.#made}`;
  }

  config(more: Partial<TemplateCreate> = {}): TemplateCreate {
    return { slug: this.slug(), name: 'Made for the matrix', fields: FIELDS, actions: ACTIONS, ...more };
  }

  /** The template reviews are asked of; one for each kind. */
  template(kind: 'plain' | SelfDeciding = 'plain'): Promise<Template> {
    const known = this.#templates.get(kind) ?? this.freshTemplate(kind);
    this.#templates.set(kind, known);
    return known;
  }

  /** A template of its own, published by a person. */
  freshTemplate(kind: 'plain' | SelfDeciding = 'plain'): Promise<Template> {
    return this.cast.server.admin.do('createTemplate', { body: this.config(kind === 'plain' ? {} : SELF_DECIDING[kind]) });
  }

  async paused(kind: 'plain' | SelfDeciding = 'plain'): Promise<Template> {
    const { id } = await this.freshTemplate(kind);
    return this.cast.server.admin.do('pauseTemplate', { path: { id } });
  }

  /** Never published. */
  draft(kind: 'plain' | SelfDeciding = 'plain'): Promise<Template> {
    const body = { ...this.config(kind === 'plain' ? {} : SELF_DECIDING[kind]) };
    return this.cast.server.admin.do('createTemplateDraft', { body });
  }

  async pending(more: Partial<ReviewCreate> = {}): Promise<Review> {
    const template = more.template ?? (await this.template()).id;
    const body = { payload: DRAFT, on_behalf_of: emailOf('person it was asked for'), ...more, template };
    return this.cast.requestingKey.do('createReview', { body });
  }

  /** Asked for by a key the admin was shown, for nobody in particular. */
  async #shown(key: keyof Cast['shownToAdmin']): Promise<Review> {
    const body = { template: (await this.template()).id, payload: DRAFT };
    return this.cast.shownToAdmin[key].do('createReview', { body });
  }

  unowned(): Promise<Review> {
    return this.#shown('unowned');
  }

  madeForAnother(): Promise<Review> {
    return this.#shown('made');
  }

  rotatedForAnother(): Promise<Review> {
    return this.#shown('rotated');
  }

  async held(): Promise<Review> {
    const { id } = await this.pending();
    return this.cast.holder.do('claimReview', { path: { id } });
  }

  async awaiting(): Promise<Review> {
    const { id } = await this.pending();
    return this.cast.holder.act(id, 'request_changes', { feedback: 'Shorter.' });
  }

  async approved(): Promise<Review> {
    const { id } = await this.pending();
    return this.cast.holder.act(id, 'approve');
  }

  async rejected(): Promise<Review> {
    const { id } = await this.pending();
    return this.cast.holder.act(id, 'reject', { feedback: 'No.' });
  }

  async withdrawn(): Promise<Review> {
    const { id } = await this.pending();
    return this.cast.requestingKey.do('withdrawReview', { path: { id } });
  }

  async archived(): Promise<Review> {
    const { id } = await this.rejected();
    return this.cast.holder.do('archiveReview', { path: { id } });
  }

  /** Approved by its template, without anybody. */
  async autoApproved(): Promise<Review> {
    return this.pending({ template: (await this.template('approves by itself')).id });
  }

  /** An API key of the project. */
  async key(): Promise<string> {
    return (await this.cast.server.admin.do('createApiKey', { body: { name: this.slug(), scopes: ['reviews:read'] } })).id;
  }

  /** A person of the project. */
  async member(): Promise<string> {
    const { server } = this.cast;
    const { invite_url } = await server.admin.do('inviteMember', { body: { email: `${this.slug()}@demo.example`, role: 'reviewer' } });
    const body = { name: 'Passing through', password: PASSWORD };
    const { reviewer } = await new Caller(server.url, null, server.answers).do('acceptInvite', {
      path: { token: tokenOf(invite_url) },
      body,
    });
    return reviewer.id;
  }

  /** In both projects, no new webhook secret waits. */
  async secretSettled(): Promise<Attempt> {
    for (const admin of [this.cast.server.admin, this.cast.strangersAdmin]) await admin.try('promoteHmacSecret');
    return {};
  }

  /** In both projects, a new webhook secret waits. */
  async secretPending(): Promise<Attempt> {
    for (const admin of [this.cast.server.admin, this.cast.strangersAdmin]) await admin.try('rotateHmacSecret');
    return {};
  }

  /** One that has arrived. */
  delivery(): Promise<string> {
    this.#delivery ??= this.#delivered();
    return this.#delivery;
  }

  async #delivered(): Promise<string> {
    const { server, requestingKey } = this.cast;
    const { id } = await this.pending({ callback_url: server.receiver.url('/arrives') });
    await requestingKey.do('withdrawReview', { path: { id } });
    const { id: delivery } = await until('a delivery to arrive', async () => {
      const { items } = await server.admin.do('listDeliveries', { query: { review_id: id, status: 'delivered' } });
      return items[0];
    });
    return delivery;
  }
}
