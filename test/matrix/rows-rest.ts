/** Everything else: it decides nothing, and who may do it says who can come to decide (keys, people, sessions). */
import type { Actor, Cast } from './actors.js';
import type { Row, Rows } from './row.js';
import type { Stage } from './stage.js';

const open = { access: 'public', ok: '200', stranger: '200', limited: '200' } as const;
const own = { ok: '200', stranger: '200', limited: '200' } as const;
const member = { access: 'member', ...own } as const;
const admin = { access: 'admin', ...own } as const;
const key = { access: 'key', ...own } as const;

const nothing = () => ({});
const seen = (tries: string, rules: typeof open | typeof member | typeof admin | typeof key): Row => ({
  ...rules,
  tries,
  attempt: nothing,
});

const reading = { access: 'either', scope: 'audit:read', ...own } as const;
/** The log and the deliveries are the whole project's, so a key that is limited to some of it has no part in them (decision 15). */
const whole = { ...reading, limited: '403 template_not_allowed' } as const;
const sending = { ...whole, scope: 'reviews:decide' } as const;

/** Ends the session it is done with, so it is done with another. */
const inAnotherSession = async (_: Stage, actor: Actor, cast: Cast) => {
  const headers = await cast.signIn(actor);
  return headers ? { headers } : {};
};

const ofKey = { ...admin, stranger: '404 api_key_not_found' } as const;
const ofMember = { ...admin, stranger: '404 member_not_found' } as const;

const AUTH_ROWS = {
  login: [
    {
      ...open,
      tries: 'to sign in',
      attempt: (_, __, { credentials }) => ({ body: credentials.holder }),
    },
  ],
  exchangeSignInLink: [
    {
      ...open,
      tries: 'to use a link nobody made',
      attempt: () => ({ body: { token: 'csl_nobody-made-it' } }),
      ok: '401 invalid_sign_in_link',
    },
  ],
  getKeyInfo: [seen('to ask what the key is', key)],
  getMe: [seen('to ask who is signed in', member)],
  updateProfile: [{ ...member, tries: 'to be called otherwise', attempt: () => ({ body: { name: 'Somebody' } }) }],
  logout: [{ ...member, tries: 'to sign out', attempt: inAnotherSession }],
  listSessions: [seen('to list sessions', member)],
  revokeSession: [
    {
      ...member,
      tries: "to end somebody else's session",
      ok: '404 session_not_found',
      stranger: '404 session_not_found',
      attempt: async (_, __, { holder }) => ({ path: { id: (await holder.do('listSessions')).items[0]?.id ?? '' } }),
    },
  ],
  revokeSessions: [
    {
      ...member,
      tries: 'to end sessions, saying nonsense',
      attempt: () => ({ body: { include_current: 'all' } }),
      ok: '400 validation_failed',
      stranger: '400 validation_failed',
    },
  ],
  changePassword: [
    {
      ...member,
      tries: 'to have another password, without one',
      attempt: () => ({ body: {} }),
      ok: '400 validation_failed',
      stranger: '400 validation_failed',
    },
  ],
  getInvite: [
    {
      ...open,
      tries: 'to read an invitation nobody made',
      attempt: () => ({ path: { token: 'nobody-made-it' } }),
      ok: '404 invite_invalid',
    },
  ],
  acceptInvite: [
    {
      ...open,
      tries: 'to accept an invitation nobody made',
      attempt: () => ({ path: { token: 'nobody-made-it' }, body: { name: 'Eve', password: 'a-long-sentence-nobody-guesses-8' } }),
      ok: '404 invite_invalid',
    },
  ],
} as const satisfies Partial<Rows>;

const SETTINGS_ROWS = {
  getProject: [seen('to read the project', member)],
  updateProject: [{ ...admin, tries: 'to describe it', attempt: () => ({ body: { description: 'A project.' } }) }],
  listApiKeys: [seen('to list keys', admin)],
  createApiKey: [
    { ...admin, tries: 'to make a key', attempt: () => ({ body: { name: 'made', scopes: ['reviews:read'] } }), ok: '201', stranger: '201' },
    {
      ...admin,
      tries: 'to make a key nobody answers for',
      attempt: () => ({ body: { name: 'made', scopes: ['reviews:read'], owner: 'nobody@demo.example' } }),
      ok: '400 invalid_person',
      stranger: '400 invalid_person',
    },
  ],
  updateApiKey: [
    {
      ...ofKey,
      tries: 'to change a key',
      attempt: async (stage) => ({ path: { id: await stage.key() }, body: { description: 'Changed.' } }),
    },
  ],
  deleteApiKey: [{ ...ofKey, tries: 'to end a key', attempt: async (stage) => ({ path: { id: await stage.key() } }), ok: '204' }],
  rotateApiKey: [{ ...ofKey, tries: 'to give a key another form', attempt: async (stage) => ({ path: { id: await stage.key() } }) }],
  getHmacSecret: [seen('to ask about the webhook secret', admin)],
  revealHmacSecret: [seen('to see the webhook secret', admin)],
  rotateHmacSecret: [{ ...admin, tries: 'to add a webhook secret', attempt: (stage) => stage.secretSettled() }],
  promoteHmacSecret: [{ ...admin, tries: 'to change over to it', attempt: (stage) => stage.secretPending() }],
  listMembers: [seen('to list people', member)],
  inviteMember: [
    {
      ...admin,
      tries: 'to invite somebody',
      attempt: (stage) => ({ body: { email: `${stage.slug()}@demo.example`, role: 'admin' } }),
      ok: '201',
      stranger: '201',
    },
  ],
  updateMember: [
    {
      ...ofMember,
      tries: "to change somebody's role",
      attempt: (_, __, { ids }) => ({ path: { id: ids.member }, body: { role: 'reviewer' } }),
    },
    {
      ...ofMember,
      tries: 'to change the role of an admin, or of oneself',
      attempt: (_, __, { ids }) => ({ path: { id: ids.admin }, body: { role: 'reviewer' } }),
      ok: '403 cannot_edit_self',
    },
  ],
  removeMember: [
    {
      ...ofMember,
      tries: 'to take a person out',
      attempt: async (stage) => ({ path: { id: await stage.member() } }),
      ok: '204',
    },
  ],
} as const satisfies Partial<Rows>;

export const REST_ROWS = {
  ...AUTH_ROWS,
  ...SETTINGS_ROWS,
  getHealth: [seen('to ask whether it is alive', open)],
  getReadiness: [seen('to ask whether it is ready', open)],
  getApiInfo: [seen('to ask what it is', open)],
  getOpenApi: [seen('to ask what it answers', open)],
  getErrorPage: [seen('to read about errors', open)],
  // None is configured.
  getSecurityTxt: [{ ...seen('to ask whom to tell', open), ok: '404 route_not_found' }],
  createStreamTicket: [{ ...reading, scope: 'reviews:read', tries: 'to get a ticket', attempt: nothing }],
  streamEvents: [
    { ...reading, scope: 'reviews:read', tries: 'to listen', attempt: nothing, uncredentialed: '401 missing_ticket' },
    {
      ...open,
      tries: 'to listen with a ticket nobody issued',
      attempt: () => ({ query: { ticket: '0'.repeat(48) } }),
      ok: '401 invalid_ticket',
    },
  ],
  listFeedback: [{ ...key, scope: 'feedback:read', tries: 'to learn', attempt: nothing }],
  getStats: [{ ...reading, scope: 'stats:read', tries: 'to count', attempt: nothing }],
  listAuditEvents: [{ ...whole, tries: 'to read the log', attempt: nothing }],
  verifyAudit: [{ ...whole, tries: 'to verify the log', attempt: () => ({ query: { from: '1', to: '5' } }) }],
  exportAudit: [{ ...whole, tries: 'to take the log', attempt: nothing }],
  listDeliveries: [{ ...whole, tries: 'to list deliveries', attempt: nothing }],
  getDelivery: [
    {
      ...whole,
      tries: 'to read a delivery',
      attempt: async (stage) => ({ path: { id: await stage.delivery() } }),
      stranger: '404 delivery_not_found',
    },
  ],
  retryDelivery: [
    {
      ...sending,
      tries: 'to send again what has arrived',
      attempt: async (stage) => ({ path: { id: await stage.delivery() } }),
      ok: '400 already_delivered',
      stranger: '404 delivery_not_found',
    },
  ],
  replayDeliveries: [{ ...sending, tries: 'to send dead letters again', attempt: () => ({ body: {} }) }],
  testWebhook: [
    {
      ...reading,
      scope: 'reviews:create',
      tries: 'to send a test',
      attempt: (_, __, { server }) => ({ body: { url: server.receiver.url('/matrix') } }),
    },
  ],
} as const satisfies Partial<Rows>;
