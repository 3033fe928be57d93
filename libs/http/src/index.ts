export { checkAnswers } from './answer-check.js';
export {
  type AnswerCheck,
  type CallAnswer,
  type CallRequest,
  type ForwardRequest,
  ServiceClient,
  type ServiceClientOptions,
} from './client.js';
export { contract } from './contract-pipe.js';
export { etagOf } from './etag.js';
export { httpTransport } from './http-transport.js';
export { IDENTITY_HEADER, signIdentity, verifyIdentity } from './identity.js';
export { injectTransport, type ServiceApps } from './inject-transport.js';
export { JsonRefused, parseJson } from './json.js';
export { fillPath, findOperation, queryText } from './operation-path.js';
export { decodeCursor, encodeCursor, lenientPage, listBody, type Page, pageOf } from './page.js';
export { findPerson, isRoleRef, type ProjectPerson } from './people.js';
export { Problem, type ProblemDetail, type ProblemOptions, problemOf, retryAfter } from './problem.js';
export { methodsOf } from './problem-replies.js';
export type { ReadyCheck, ReadyReport } from './readiness.js';
export { parseSeen, Reply, type ReplyOptions, respond, SEEN_HEADER, type Seen, seenToken } from './reply.js';
export { requestIdOf } from './request-id.js';
export { type AppModule, type AppOptions, BODY_LIMIT, createHttpApp, createServiceApp, type ServiceAppOptions } from './service-app.js';
export { type CallerIdentity, Identity } from './service-guard.js';
export { type ServiceAnswer, type ServiceHeaders, type ServiceRequest, type ServiceTransport, ServiceUnreachable } from './transport.js';
