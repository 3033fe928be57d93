/** Every operation as it is accepted, with as many marks as it takes: which object, which body, and in which order. */
import type { OperationId } from '@countersign/contracts';
import { examplesOf } from '../bad-input/schemas.js';
import { ROUTES, type Route, type Target } from '../bad-input/target.js';
import { DRAFT } from '../e2e/server.js';
import { MARK, marked, placeOf, textsOf } from './marks.js';

/** After all others, each by a session of its own: what ends sessions, and what the others are asked with. */
const LAST: readonly OperationId[] = [
  'updateMember',
  'removeMember',
  'deleteApiKey',
  'revokeSession',
  'revokeSessions',
  'logout',
  'changePassword',
];
/** Those that need what an operation further down the table does. */
const LATER: readonly OperationId[] = ['resubmitReview', 'recordExecution'];

/** Which of the stage's objects, where others have made this one what it needs to be; the first of them otherwise. */
const AT: Partial<Record<OperationId, number>> = {
  withdrawReview: 1,
  archiveReview: 1,
  unarchiveReview: 1,
  deleteReview: 1,
  actOnReview: 2,
  resubmitReview: 2,
  decideReview: 3,
  retryReview: 4,
  cancelReviewRequest: 4,
  redeemReview: 5,
  recordExecution: 5,
  replaceTemplateDraft: 1,
  publishTemplate: 1,
  discardTemplateDraft: 2,
  pauseTemplate: 3,
  resumeTemplate: 3,
  deleteTemplate: 4,
};

interface Right {
  body: Record<string, unknown>;
  /** Places where a mark would make it another request, or none. */
  plain?: readonly string[];
}

/** A mark for each parameter that takes any text; others are refused (`cursor` is a place). */
function markedQuery({ query }: Route): string {
  const { properties = {} } = (query ?? {}) as { properties?: Record<string, { type?: string; enum?: unknown; pattern?: string }> };
  const texts = Object.entries(properties).filter(([name, it]) => it.type === 'string' && !it.enum && !it.pattern && name !== 'cursor');
  return `?${texts.map(([name]) => `${name}=${MARK}`).join('&')}`;
}

export class MarkedRoutes {
  readonly order: readonly Route[];

  private constructor(
    private readonly target: Target,
    /** Bodies that fit this stage, where the documented examples are about others. */
    private readonly right: Partial<Record<OperationId, Right>>,
    /** Objects that only this has. */
    private readonly own: Partial<Record<OperationId, string>>,
    /** What was made for it and is nobody's business. */
    readonly secrets: readonly string[],
  ) {
    const turn = ({ id }: Route) => 1 + LATER.indexOf(id) + 10 * (1 + LAST.indexOf(id));
    this.order = ROUTES.filter(({ id }) => id !== 'streamEvents').sort((a, b) => turn(a) - turn(b));
  }

  /** @param dead a delivery that has failed for good. */
  static async over(target: Target, dead: string): Promise<MarkedRoutes> {
    const { admin, topology, receiver } = target.server;
    const { project_id, reviewer } = topology.credentials;
    const object = (kind: string, index: number) => target.objects[kind]?.[index] ?? '';
    await admin.act(object('reviews', AT.redeemReview as number), 'approve');
    await admin.do('replaceTemplateDraft', { path: { id: object('templates', AT.discardTemplateDraft as number) }, body: { name: 'n' } });
    const link = await topology.operate<{ sign_in_url: string }>(
      'users',
      'create',
      '--project',
      project_id,
      '--email',
      'second@demo.example',
    );
    const token = /[^/#=]+$/.exec(link.sign_in_url)?.[0] ?? '';
    const later = 'another-sentence-nobody-guesses';
    return new MarkedRoutes(
      target,
      {
        login: { body: { email: reviewer.email, password: reviewer.password, return_to: '/reviews' }, plain: ['email', 'password'] },
        exchangeSignInLink: { body: { token }, plain: ['token'] },
        changePassword: { body: { current_password: reviewer.password, new_password: later }, plain: ['current_password'] },
        createReview: { body: { template: 'email-draft', payload: DRAFT, metadata: { note: 'n' } }, plain: ['template'] },
        createApiKey: { body: { name: 'n', scopes: ['reviews:read'] } },
        replaceTemplateDraft: { body: { name: 'Next', slug: 'target-1', description: 'd' }, plain: ['slug'] },
        actOnReview: { body: { action_id: 'request_changes', feedback: 'f' }, plain: ['action_id'] },
        resubmitReview: { body: { payload: DRAFT, version: 2 } },
        redeemReview: { body: { value: DRAFT, executor: 'e' }, plain: Object.keys(DRAFT).map((name) => `value.${name}`) },
        recordExecution: { body: { status: 'succeeded', note: 'n' } },
        decideReview: { body: { decision: 'rejected', feedback: 'f' }, plain: ['decision'] },
        retryReview: { body: { feedback: 'f' } },
        cancelReviewRequest: { body: { feedback: 'f' } },
        assignReview: { body: { assignee: 'role:reviewer' }, plain: ['assignee'] },
        saveReviewDraft: { body: { draft_payload: { body: 'b' } } },
        inviteMember: { body: { email: 'someone@demo.example', role: 'reviewer' } },
        updateMember: { body: { role: 'reviewer' } },
        testWebhook: { body: { url: receiver.url('/leaks-test') } },
      },
      { retryDelivery: dead },
      [token, later],
    );
  }

  /** Sends a route's right body with as many marks as it takes. @returns the last answer. */
  async send(route: Route): Promise<{ status: number; text: string }> {
    if (LAST.includes(route.id)) await this.target.server.admin.signIn();
    const headers = {
      'user-agent': MARK,
      'accept-language': MARK,
      'idempotency-key': `${MARK}-${route.id}`,
      cookie: `a=${MARK}`,
      tracestate: `a=${MARK}`,
    };
    const objects = this.target.objectsOf(route);
    const parameter = this.own[route.id] ?? objects[AT[route.id] ?? 0];
    if (!route.body) return this.target.send(route, { headers, parameter, query: markedQuery(route) });
    const { body: example, plain: fixed } = this.right[route.id] ?? { body: examplesOf(this.target.document, route)[0] ?? {} };
    const plain = new Set(fixed);
    for (let left = textsOf(example).length; ; left--) {
      const body = JSON.stringify(marked(example, plain));
      const answer = await this.target.send(route, { parameter, headers: { ...headers, 'content-type': 'application/json' }, body });
      const { error } = (answer.text === '' ? {} : JSON.parse(answer.text)) as { error?: { param?: string } };
      const place = error?.param === undefined ? undefined : placeOf(error.param);
      if (answer.status !== 400 || place === undefined || left <= 0) return answer;
      const texts = textsOf(example).filter((one) => !plain.has(one) && (one === place || one.startsWith(place) || place.startsWith(one)));
      if (texts.length === 0) return answer;
      for (const one of texts) plain.add(one);
    }
  }
}
