/** What works with the directory without HTTP, and so without the weight of its application: the operators' CLI above all. */

export { type KeyStanding, standingOf } from './authentication/keys.js';
export { changeApiKey, createApiKey, deleteApiKey, type KeyInput, type KeyMade, lastUses, rotateApiKey } from './commands/keys.js';
export { type CreatePerson, choseOwnPassword, createPerson, resetPassword } from './commands/people.js';
export {
  type CreateProject,
  createProject,
  revealWebhookSecret,
  type WebhookSecrets,
  webhookSecrets,
} from './commands/projects.js';
export { grantRole } from './commands/team.js';
export { SealBroken } from './credentials/sealing.js';
export { newRawKey } from './credentials/tokens.js';
export { newWebhookSecret, standardSecret } from './credentials/webhook-secret.js';
export type { DirectoryDeps } from './deps.js';
export { catchUpAll, rebuildLookups } from './lookups/catch-up.js';
export { keysOf } from './lookups/keys.js';
export { type FoundPerson, findPersonByEmail, type ProjectPerson, peopleOf } from './lookups/people.js';
export { type FoundProject, findProjectBySlug, listProjects } from './lookups/projects.js';
export { directoryStore, OPERATOR, SCOPE_PRESETS, type ScopePreset } from './provisioning.js';
export type { DirectoryRefusal, Outcome } from './refusals.js';
export { clearFailures } from './sign-in/attempts.js';
export { isPasswordOf } from './sign-in/password-gate.js';
export { createSignInLink, type LinkPurpose } from './sign-in/sign-in.js';
