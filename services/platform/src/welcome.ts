import type { Environment } from '@countersign/config';
import { createSignInLink, type DirectoryDeps } from '@countersign/directory';
import { signInUrl } from './address.js';
import { type Credentials, credentialsPath } from './credentials.js';
import { DEMO_EMAIL, type DemoProject } from './demo/demo-project.js';

/** What a person at the keyboard is told once the server answers. */
export async function welcome(
  deps: DirectoryDeps,
  { credentials, person, madeAnew }: DemoProject,
  place: { publicUrl: string; dataDir: string; environment: Environment },
): Promise<string[]> {
  const { publicUrl, dataDir, environment } = place;
  const link = person === null ? null : await createSignInLink(deps, { person, purpose: 'sign_in' });
  // What other commands have to be called with to find the same data.
  const setting = environment.DATA_DIR?.trim() ? `DATA_DIR=${dataDir} ` : '';
  return [
    ...(madeAnew === null ? [] : ['', madeAnew]),
    '',
    `Countersign is ready at ${publicUrl}`,
    '',
    ...(link ? [`  Inbox           ${signInUrl(publicUrl, link.token)}`, '                  (one-time link, valid for 15 minutes)'] : []),
    ...credentialLines(credentials, dataDir, setting),
    '',
    `  Also saved in ${credentialsPath(dataDir)}.`,
    `  ${credentials.api_key_refused ? '' : `In another terminal: \`${setting}npm run demo\`. `}Ctrl-C stops.`,
    '',
  ];
}

/** What is said of a key that is refused. */
const REFUSED: Record<NonNullable<Credentials['api_key_refused']>, string> = {
  disabled: 'was disabled, and is refused until an admin enables it',
  rotated: 'was rotated, and is refused',
  expired: 'has expired',
  deleted: 'was deleted',
};

function credentialLines(credentials: Credentials, dataDir: string, setting: string): string[] {
  const { api_key, api_key_refused, webhook_secret, reviewer, password_changed } = credentials;
  return [
    ...(reviewer ? [`  Sign in with    ${reviewer.email} / ${reviewer.password}`] : []),
    ...(password_changed
      ? [
          `  Sign in as      ${DEMO_EMAIL}: the password was changed and is not known here. A link to set another:`,
          `                  ${setting}npx countersign users create --project demo --email ${DEMO_EMAIL}`,
        ]
      : []),
    ...(api_key_refused
      ? [
          `  Agent API key   ${api_key.slice(0, 12)}… ${REFUSED[api_key_refused]}. For another, delete`,
          `                  ${credentialsPath(dataDir)} and start again.`,
        ]
      : [`  Agent API key   ${api_key}`]),
    `  Webhook secret  ${webhook_secret}`,
  ];
}

/** Does one step of a start after the other: none once the signal is aborted. Tells what is done and how long it took: a first start takes a while. */
export function stepByStep(signal: AbortSignal, say: (line: string) => void) {
  return async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    const began = performance.now();
    const result = await work();
    say(`  ${name} … ${((performance.now() - began) / 1_000).toFixed(1)} s`);
    return result;
  };
}
