/** Everybody who may come to the door, and what they carry. */
import { SCOPES } from '@countersign/contracts';
import { Caller, Server } from '../e2e/server.js';

/** By what they carry; who of them is let in, and to what, is said in access.ts and in the rows. */
export const ACTORS = [
  // Keys of the project that are good.
  'requesting key',
  'another key',
  'key of another scope',
  'key of another template',
  'key whose owner has left',
  // A good key of somebody else.
  "another project's key",
  // Keys that are not good any more, or not from here.
  'disabled key',
  'deleted key',
  'rotated key',
  'expired key',
  'key from elsewhere',
  'key nobody made',
  'key as a cookie',
  // People of the project.
  'reviewer',
  'admin',
  'owner of the key',
  'person it was asked for',
  // People of another project, and a person with no project any more.
  "another project's reviewer",
  "another project's admin",
  "another project's admin naming this one",
  'removed person',
  // Sessions that have ended, and what was never one.
  'signed-out person',
  'revoked session',
  'expired session',
  'nobody',
  'garbage',
  'basic credentials',
] as const;
export type Actor = (typeof ACTORS)[number];

export interface Cast {
  server: Server;
  /** Headers each actor comes with. */
  headers: Record<Actor, Record<string, string>>;
  /** Somebody of the project who is no actor: holds, decides and asks for changes when the stage is set. */
  holder: Caller;
  requestingKey: Caller;
  /** Keys the admin was shown: made for nobody, made for the owner of the key, and only rotated. */
  shownToAdmin: Record<'unowned' | 'made' | 'rotated', Caller>;
  strangersAdmin: Caller;
  credentials: Record<keyof typeof EMAILS, { email: string; password: string }>;
  ids: { project: string; admin: string; reviewer: string; member: string };
  /** Opens another session, for what ends it. Null for an actor who has none. */
  signIn(actor: Actor): Promise<Record<string, string> | null>;
}

export const PASSWORD = 'a-long-sentence-nobody-guesses-7';

/** People with a password. */
const EMAILS = {
  holder: 'holder@demo.example',
  reviewer: 'reviewer2@demo.example',
  admin: 'admin@demo.example',
  'owner of the key': 'owner@demo.example',
  'person it was asked for': 'principal@demo.example',
  "another project's reviewer": 'reviewer@strangers.example',
  "another project's admin": 'admin@strangers.example',
} as const;

/** The address of an actor who is a person. */
export const emailOf = (actor: Actor): string | undefined => (EMAILS as Partial<Record<Actor, string>>)[actor];

/** The secret at the end of a link. */
export const tokenOf = (link: string): string => /[^/#=]+$/.exec(link)?.[0] ?? '';

const bearer = (token: string | null) => ({ authorization: `Bearer ${token}` });

/** Everybody is made the way they are made in life: invited, registered by the operator, given a key by an admin. */
export async function assemble(server: Server): Promise<Cast> {
  const { admin: root, url, answers } = server;
  const all = [...SCOPES];

  const signedIn = async (email: string) => {
    const { token } = await new Caller(url, null, answers).do('login', { body: { email, password: PASSWORD } });
    return new Caller(url, token ?? null, answers);
  };
  const member = async (by: Caller, email: string, role: 'admin' | 'reviewer') => {
    const { invite_url } = await by.do('inviteMember', { body: { email, role } });
    const body = { name: email, password: PASSWORD };
    const { reviewer } = await new Caller(url, null, answers).do('acceptInvite', { path: { token: tokenOf(invite_url) }, body });
    return { id: reviewer.id, caller: await signedIn(email) };
  };
  const key = async (name: string, settings: object = {}, by: Caller = root) => {
    const made = await by.do('createApiKey', { body: { name, scopes: all, owner: null, ...settings } });
    return { id: made.id, caller: new Caller(url, made.raw_key ?? null, answers) };
  };

  // The clock goes on only here, so that nothing else runs out with it: longer than a session may be unused.
  const expiredSession = root.bearer;
  const inAnHour = new Date(Date.now() + 3_600_000).toISOString();
  const expired = await key('expired', { expires_at: inAnHour });
  await server.topology.advanceClock(25 * 3_600);

  const project = server.topology.credentials.project_id;
  const strangers = await server.topology.operate<{ id: string }>('projects', 'create', 'Strangers');
  const { sign_in_url } = await server.topology.operate<{ sign_in_url: string }>(
    ...[
      'users',
      'create',
      '--project',
      strangers.id,
      '--email',
      EMAILS["another project's admin"],
      '--name',
      'Stranger',
      '--role',
      'admin',
    ],
  );
  const link = await new Caller(url, null, answers).do('exchangeSignInLink', { body: { token: tokenOf(sign_in_url) } });
  await new Caller(url, link.token ?? null, answers).do('changePassword', { body: { new_password: PASSWORD } });
  const strangersAdmin = await signedIn(EMAILS["another project's admin"]);
  const strangersReviewer = await member(strangersAdmin, EMAILS["another project's reviewer"], 'reviewer');

  const admin = await member(root, EMAILS.admin, 'admin');
  const reviewer = await member(root, EMAILS.reviewer, 'reviewer');
  const owner = await member(root, EMAILS['owner of the key'], 'reviewer');
  const principal = await member(root, EMAILS['person it was asked for'], 'reviewer');
  const holder = await member(root, EMAILS.holder, 'admin');
  const removed = await member(root, 'removed@demo.example', 'reviewer');
  const leaver = await member(root, 'leaver@demo.example', 'reviewer');

  const asOwner = { owner: EMAILS['owner of the key'] };
  const requesting = await key('requesting', asOwner);
  const kept = await key('kept by its owner', asOwner);
  const anew = await admin.caller.do('rotateApiKey', { path: { id: kept.id } });
  const shownToAdmin = {
    unowned: (await key('unowned', {}, admin.caller)).caller,
    made: (await key('made for another', asOwner, admin.caller)).caller,
    rotated: new Caller(url, anew.raw_key ?? null, answers),
  };
  const other = await server.publish({ slug: 'elsewhere' });
  const orphan = await key('orphan', { owner: 'leaver@demo.example' });
  for (const { id } of [removed, leaver]) await root.do('removeMember', { path: { id } });
  const disabled = await key('disabled');
  await root.do('updateApiKey', { path: { id: disabled.id }, body: { is_active: false } });
  const deleted = await key('deleted');
  await root.do('deleteApiKey', { path: { id: deleted.id } });
  const rotated = await key('rotated');
  await root.do('rotateApiKey', { path: { id: rotated.id } });

  const signedOut = await signedIn(EMAILS.reviewer);
  await signedOut.do('logout');
  const revoked = await signedIn(EMAILS['owner of the key']);
  const { items } = await revoked.do('listSessions');
  await owner.caller.do('revokeSession', { path: { id: items.find((session) => session.is_current)?.id ?? '' } });

  const headers: Cast['headers'] = {
    'requesting key': bearer(requesting.caller.bearer),
    'another key': bearer((await key('another', asOwner)).caller.bearer),
    'key of another scope': bearer((await key('counting', { scopes: ['stats:read'] })).caller.bearer),
    'key of another template': bearer((await key('limited', { template_ids: [other.id] })).caller.bearer),
    'key whose owner has left': bearer(orphan.caller.bearer),
    "another project's key": bearer((await key('strange', {}, strangersAdmin)).caller.bearer),
    'disabled key': bearer(disabled.caller.bearer),
    'deleted key': bearer(deleted.caller.bearer),
    'rotated key': bearer(rotated.caller.bearer),
    'expired key': bearer(expired.caller.bearer),
    'key from elsewhere': bearer((await key('elsewhere', { ip_allowlist: ['203.0.113.0/24'] })).caller.bearer),
    'key nobody made': bearer(`gwk_${'0'.repeat(64)}`),
    'key as a cookie': { cookie: `countersign_session=${requesting.caller.bearer}`, 'sec-fetch-site': 'same-origin' },
    reviewer: bearer(reviewer.caller.bearer),
    admin: bearer(admin.caller.bearer),
    'owner of the key': bearer(owner.caller.bearer),
    'person it was asked for': bearer(principal.caller.bearer),
    "another project's reviewer": bearer(strangersReviewer.caller.bearer),
    "another project's admin": bearer(strangersAdmin.bearer),
    "another project's admin naming this one": { ...bearer(strangersAdmin.bearer), 'x-project-id': project },
    'removed person': bearer(removed.caller.bearer),
    'signed-out person': bearer(signedOut.bearer),
    'revoked session': bearer(revoked.bearer),
    'expired session': bearer(expiredSession),
    nobody: {},
    garbage: bearer('cst_garbage'),
    'basic credentials': { authorization: `Basic ${Buffer.from(`${EMAILS.admin}:${PASSWORD}`).toString('base64')}` },
  };
  return {
    server,
    headers,
    holder: holder.caller,
    requestingKey: requesting.caller,
    shownToAdmin,
    strangersAdmin,
    credentials: Object.fromEntries(
      Object.entries(EMAILS).map(([who, email]) => [who, { email, password: PASSWORD }]),
    ) as Cast['credentials'],
    ids: { project, admin: admin.id, reviewer: reviewer.id, member: principal.id },
    signIn: async (actor) => {
      const email = emailOf(actor);
      return email === undefined ? null : bearer((await signedIn(email)).bearer);
    },
  };
}
