/**
 * The demo project a first start leaves behind: a person who may decide, an agent's key, published templates.
 *
 * F1 Everything is chosen and written to a private file before the first of it is made, and made under the ids chosen: a start that is killed
 *    half way is finished by the next one, with the same credentials.
 * F2 Where the project is there already (the file was lost, the database was not), it is adopted: a new key in place of the one that was
 *    made for the file, a new password unless the person chose theirs. What was made anew is said.
 * F3 At later starts only what may have changed is written anew: the address, the webhook secret, whether the agent's key is still good, and
 *    whether the person's password may stand in the file at all (only while nobody but this machine reaches the server, and while it is the
 *    one they sign in with). What an admin or the person changed is said, not undone.
 */
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import {
  changeApiKey,
  choseOwnPassword,
  createApiKey,
  createPerson,
  createProject,
  createSignInLink,
  type DirectoryDeps,
  type FoundPerson,
  findPersonByEmail,
  findProjectBySlug,
  grantRole,
  isPasswordOf,
  keysOf,
  newRawKey,
  newWebhookSecret,
  OPERATOR,
  type Outcome,
  resetPassword,
  SCOPE_PRESETS,
  SealBroken,
  standingOf,
  webhookSecrets,
} from '@countersign/directory';
import { newId } from '@countersign/event-store';
import { CannotStart } from '../cannot-start.js';
import { type Credentials, readCredentials, writeCredentials } from '../credentials.js';
import { readIfThere, writePrivate } from '../data/files.js';

const PROJECT = { name: 'Demo', slug: 'demo' };
export const DEMO_EMAIL = 'reviewer@demo.example';
const PERSON = { name: 'Demo reviewer', email: DEMO_EMAIL };
const KEY = { name: 'Demo agent', description: 'Made by npm start for credentials.json.' };

/** What a first start has chosen. */
interface Plan {
  project: string;
  person: string;
  key: string;
  rawKey: string;
  webhookSecret: string;
  password: string;
}

const PLAN_FILE = 'first-start.json';

export interface DemoProject {
  credentials: Credentials;
  /** Person the sign-in link is for; null when they were removed. */
  person: string | null;
  /** What stands in `credentials.json` since this start and not before, in one sentence; null for nothing, or for all of it. */
  madeAnew: string | null;
}

type Kept = Omit<Credentials, 'url'>;

/** Makes sure that the demo project is there and that `credentials.json` tells how to use it. */
export async function ensureDemoProject(
  deps: DirectoryDeps,
  options: {
    dataDir: string;
    url: string;
    loopback: boolean;
    /** Publishes the demo's templates as the person whose sign-in link this is the token of. */
    publish: (signInToken: string) => Promise<void>;
  },
): Promise<DemoProject> {
  const { dataDir, url, loopback, publish } = options;
  const known = readCredentials(dataDir);
  const secrets = known && (await secretsOf(deps, known.project_id));
  const { kept, madeAnew } =
    known && secrets ? { kept: { ...known, webhook_secret: secrets }, madeAnew: null } : await makeAll(deps, dataDir, publish);
  const person = await findPersonByEmail(deps, PERSON.email);
  const { project_id, api_key, webhook_secret } = kept;
  const standing = await standingOf(deps, api_key);
  const credentials: Credentials = {
    ...{ url, project_id, api_key, webhook_secret },
    ...(standing === 'active' ? {} : { api_key_refused: standing }),
    ...(person && (await signInOf(deps, kept, person, loopback))),
  };
  writeCredentials(dataDir, credentials);
  rmSync(join(dataDir, PLAN_FILE), { force: true });
  return { credentials, person: person?.id ?? null, madeAnew };
}

/** What may stand in the file of how the person signs in. */
async function signInOf(
  deps: DirectoryDeps,
  { reviewer, password_changed }: Kept,
  person: FoundPerson,
  loopback: boolean,
): Promise<Pick<Credentials, 'reviewer' | 'password_changed'>> {
  const changed = reviewer ? !(await isPasswordOf(deps, person, reviewer.password)) : await choseOwnPassword(deps, person.id);
  if (password_changed || changed) return { password_changed: true };
  if (!loopback) return {};
  return { reviewer: reviewer ?? { email: PERSON.email, password: await givePassword(deps, person.id) } };
}

async function makeAll(
  deps: DirectoryDeps,
  dataDir: string,
  publish: (signInToken: string) => Promise<void>,
): Promise<{ kept: Kept; madeAnew: string | null }> {
  const plan = planOf(dataDir);
  const existing = await findProjectBySlug(deps, PROJECT.slug);
  const project =
    existing?.id ?? accepted(await createProject(deps, { ...PROJECT, id: plan.project, webhookSecret: plan.webhookSecret }, OPERATOR)).id;
  const { password } = plan;
  const person = await findPersonByEmail(deps, PERSON.email);
  const theirOwn = person !== null && (await choseOwnPassword(deps, person.id));
  if (person === null) {
    accepted(await createPerson(deps, { ...PERSON, id: plan.person, password, project, role: 'admin' }, OPERATOR));
  } else if (person.id !== plan.person) {
    accepted(await grantRole(deps, { project, person: person.id, role: 'admin' }, OPERATOR));
    if (!theirOwn) accepted(await resetPassword(deps, person.id, password, OPERATOR));
  }
  const key = { ...KEY, id: plan.key, rawKey: plan.rawKey, scopes: [...SCOPE_PRESETS.agent] };
  accepted(await createApiKey(deps, project, key, OPERATOR));
  const replaced = await disableOthers(deps, project, plan.key);
  const link = await createSignInLink(deps, { person: person?.id ?? plan.person, purpose: 'sign_in' });
  if (link !== null) await publish(link.token);
  const webhook_secret = await secretsOf(deps, project);
  if (webhook_secret === null) throw new Error('The project that was just created is missing.');
  return {
    kept: {
      ...{ project_id: project, api_key: plan.rawKey, webhook_secret },
      ...(theirOwn ? { password_changed: true } : { reviewer: { email: PERSON.email, password } }),
    },
    madeAnew: project === plan.project ? null : sentenceOf(theirOwn, replaced),
  };
}

/** What is disabled an admin can enable again, should another machine have used it. @returns how the keys begin. */
async function disableOthers(deps: DirectoryDeps, project: string, own: string): Promise<string[]> {
  const others = (await keysOf(deps, project)).filter(({ id, key }) => id !== own && key.description === KEY.description);
  for (const { id } of others) accepted(await changeApiKey(deps, { id, project }, { is_active: false }, OPERATOR));
  return others.filter(({ key }) => key.status === 'active').map(({ key }) => `${key.prefix}…`);
}

function sentenceOf(theirOwn: boolean, replaced: readonly string[]): string {
  const password = theirOwn ? '' : ` and a password for ${PERSON.email}`;
  const old = replaced.length > 0 ? ` The old key (${replaced.join(', ')}) is disabled.` : '';
  return `The demo project was there and its credentials.json was not. Made anew: an agent API key${password}.${old}`;
}

/** Whether this is the first start, or goes on with one that did not come to its end. */
export function isFirstStart({ path, fresh }: { path: string; fresh: boolean }): boolean {
  if (fresh) planOf(path);
  return readIfThere(join(path, PLAN_FILE)) !== null;
}

function planOf(dataDir: string): Plan {
  const path = join(dataDir, PLAN_FILE);
  const text = readIfThere(path);
  if (text !== null) return JSON.parse(text) as Plan;
  const plan: Plan = {
    project: newId('prj'),
    person: newId('per'),
    key: newId('key'),
    rawKey: newRawKey(),
    webhookSecret: newWebhookSecret(),
    password: newPassword(),
  };
  writePrivate(path, JSON.stringify(plan));
  return plan;
}

const newPassword = (): string => randomBytes(15).toString('base64url');

async function givePassword(deps: DirectoryDeps, person: string): Promise<string> {
  const password = newPassword();
  accepted(await resetPassword(deps, person, password, OPERATOR));
  return password;
}

/** The project's active webhook secret; null when there is no such project. */
async function secretsOf(deps: DirectoryDeps, project: string): Promise<string | null> {
  try {
    return (await webhookSecrets(deps, project))?.active.secret ?? null;
  } catch (error) {
    if (error instanceof SealBroken) {
      throw new CannotStart(
        'The secrets in the database were encrypted with another key. Set SECRETS_KEY to that key, or restore secrets.json.',
        { cause: error },
      );
    }
    throw error;
  }
}

function accepted<T>(outcome: Outcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw new Error(`The demo project could not be created: ${outcome.refusal.message} (${outcome.refusal.code})`);
}
