import type { AuthenticateReply, AuthenticateRequest } from '@countersign/contracts';
import { ERRORS } from '@countersign/contracts';
import { RAW_KEY } from '../credentials/tokens.js';
import type { DirectoryDeps } from '../deps.js';
import { authenticateKey } from './keys.js';
import { authenticateSession } from './people.js';

/** Who holds this credential (`POST /internal/authenticate`). A key counts as a bearer only: a cookie is always a person's. */
export async function authenticate(deps: Pick<DirectoryDeps, 'store' | 'pool'>, request: AuthenticateRequest): Promise<AuthenticateReply> {
  const { via, credential, ip, project_id } = request;
  const found =
    via === 'bearer' && credential.startsWith('gwk_')
      ? RAW_KEY.test(credential)
        ? await authenticateKey(deps, credential, ip)
        : 'invalid_api_key'
      : await authenticateSession(deps, credential, project_id);
  return typeof found === 'string' ? { refusal: { code: found, message: ERRORS[found].title } } : { actor: found };
}
