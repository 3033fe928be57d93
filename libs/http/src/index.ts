export {
  type AnswerCheck,
  type CallAnswer,
  type CallRequest,
  type ForwardRequest,
  ServiceClient,
  type ServiceClientOptions,
} from './client/client.js';
export { httpTransport } from './client/http-transport.js';
export { injectTransport, type ServiceApps } from './client/inject-transport.js';
export {
  type ServiceAnswer,
  type ServiceHeaders,
  type ServiceRequest,
  type ServiceTransport,
  ServiceUnreachable,
} from './client/transport.js';
export { etagOf } from './etag.js';
export { IDENTITY_HEADER, signIdentity, verifyIdentity } from './identity.js';
export { JsonRefused, parseJson } from './json.js';
export { fillPath, findOperation, queryText } from './operation-path.js';
export { decodeCursor, encodeCursor, lenientPage, listBody, type Page, pageOf } from './page.js';
export { findPerson, isRoleRef, type ProjectPerson } from './people.js';
export { Problem, type ProblemDetail, type ProblemOptions, problemOf, retryAfter } from './problem.js';
export { requestIdOf } from './request-id.js';
export { checkAnswers } from './service/answer-check.js';
export { contract } from './service/contract-pipe.js';
export type { RequestSubject } from './service/observed-requests.js';
export { methodsOf } from './service/problem-replies.js';
export type { ReadyCheck, ReadyReport } from './service/readiness.js';
export { parseSeen, Reply, type ReplyOptions, respond, SEEN_HEADER, type Seen, seenToken } from './service/reply.js';
export {
  type AppModule,
  type AppOptions,
  BODY_LIMIT,
  createHttpApp,
  createServiceApp,
  type ServiceAppOptions,
} from './service/service-app.js';
export { type CallerIdentity, Identity } from './service/service-guard.js';
