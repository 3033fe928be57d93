import type { BodyOf, OperationId, OperationOf, ParamsOf, QueryOf, ResponseOf } from '@countersign/contracts';

type Route<Id extends OperationId> = readonly [OperationOf<Id>['method'], OperationOf<Id>['path']];

/** The operations the inbox calls. Only types come from the contracts, so that no schema is in the bundle; they hold each row to its operation. */
export const ROUTES = {
  login: ['POST', '/api/v1/auth/login'],
  exchangeSignInLink: ['POST', '/api/v1/auth/sign-in-link'],
  getMe: ['GET', '/api/v1/auth/me'],
  logout: ['POST', '/api/v1/auth/logout'],
  changePassword: ['POST', '/api/v1/auth/change-password'],
  getInvite: ['GET', '/api/v1/auth/invite/{token}'],
  acceptInvite: ['POST', '/api/v1/auth/invite/{token}'],
  listMembers: ['GET', '/api/v1/settings/team'],
  listReviews: ['GET', '/api/v1/reviews'],
  getReview: ['GET', '/api/v1/reviews/{id}'],
  listReviewVersions: ['GET', '/api/v1/reviews/{id}/versions'],
  actOnReview: ['POST', '/api/v1/reviews/{id}/action'],
  saveReviewDraft: ['PUT', '/api/v1/reviews/{id}/draft'],
  discardReviewDraft: ['DELETE', '/api/v1/reviews/{id}/draft'],
  claimReview: ['POST', '/api/v1/reviews/{id}/claim'],
  archiveReview: ['POST', '/api/v1/reviews/{id}/archive'],
  unarchiveReview: ['POST', '/api/v1/reviews/{id}/unarchive'],
  releaseReview: ['POST', '/api/v1/reviews/{id}/release'],
} as const satisfies { [Id in OperationId]?: Route<Id> };

export type InboxOperation = keyof typeof ROUTES;

type Given<Name extends string, T> = [T] extends [undefined] ? { [N in Name]?: undefined } : { [N in Name]: T };
type MayBeGiven<Name extends string, T> = { [N in Name]?: T };

/** What a call takes: the operation's parameters, query and body as the contracts have them. */
export type InputOf<Id extends InboxOperation> = Given<'params', ParamsOf<Id>> &
  MayBeGiven<'query', QueryOf<Id>> &
  Given<'body', BodyOf<Id>> & {
    /** Project the call works in, where it is not the one shown. */
    project?: string;
  };

export type { ResponseOf };

/** The address of a call: parameters in the path, the rest in the query. */
export function addressOf(path: string, params: Record<string, unknown> = {}, query: Record<string, unknown> = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const asked = new URLSearchParams(Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])));
  return asked.size === 0 ? filled : `${filled}?${asked}`;
}
