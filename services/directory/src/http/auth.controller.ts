import {
  ChangePassword,
  IdParams,
  InviteAccept,
  type InviteInfo,
  type KeyInfo,
  type LoggedIn,
  Login,
  type Me,
  type Ok,
  ProfileUpdate,
  RevokeSessions,
  type SessionList,
  type SessionsRevoked,
  SignInLink,
  TokenParams,
} from '@countersign/contracts';
import { type CallerIdentity, contract, Identity, listBody, Problem, type Reply, respond } from '@countersign/http';
import { Body, Controller, Delete, Get, Headers, Inject, Param, Post, Put } from '@nestjs/common';
import { readKey } from '../commands/keys.js';
import { changePassword, rename } from '../commands/people.js';
import { acceptInvitation, readInvitation } from '../commands/team.js';
import { DEPS, type DirectoryDeps } from '../deps.js';
import { findPersons, membershipsOf } from '../lookups/people.js';
import { revokeSession, revokeSessions, sessionsOf } from '../sign-in/sessions.js';
import { exchangeSignInLink, signIn } from '../sign-in/sign-in.js';
import { accepted, agentOf, clientOf, metaOf, personOf } from './caller.js';
import { endedSessionCookie } from './cookies.js';
import { checkedReturnTo } from './return-to.js';
import { meView, sessionView, signedInReply } from './views.js';

type RequestHeaders = Record<string, string | undefined>;

/** Signing in, sessions, invitations, what a key is (HRP §1.1, §1.7). */
@Controller('/api/v1/auth')
export class AuthController {
  constructor(@Inject(DEPS) private readonly deps: DirectoryDeps) {}

  @Post('login')
  async login(@Body(contract(Login)) body: Login, @Headers() headers: RequestHeaders): Promise<Reply<LoggedIn>> {
    const { email, password, cookie, return_to } = body;
    const returnTo = checkedReturnTo(return_to);
    const signedIn = accepted(await signIn(this.deps, { email, password, client: clientOf(headers, cookie) }));
    return signedInReply(signedIn, { cookie, returnTo, publicUrl: this.deps.config.publicUrl });
  }

  @Post('sign-in-link')
  async exchangeLink(@Body(contract(SignInLink)) body: SignInLink, @Headers() headers: RequestHeaders): Promise<Reply<LoggedIn>> {
    const signedIn = accepted(await exchangeSignInLink(this.deps, { token: body.token, client: clientOf(headers, body.cookie) }));
    return signedInReply(signedIn, { cookie: body.cookie, publicUrl: this.deps.config.publicUrl });
  }

  @Get('key-info')
  async keyInfo(@Identity() identity: CallerIdentity): Promise<KeyInfo> {
    const agent = agentOf(identity);
    const key = await readKey(this.deps, agent.key_id);
    const { scopes, project_id, template_ids, rate_limit_per_hour } = agent;
    const about = { id: agent.key_id, name: agent.name, prefix: agent.key_prefix, scopes, project_id, template_ids, rate_limit_per_hour };
    return { object: 'key_info', ...about, expires_at: key?.expires_at ?? null };
  }

  @Get('me')
  me(@Identity() identity: CallerIdentity): Promise<Me> {
    return this.#me(identity);
  }

  @Put('profile')
  async updateProfile(@Identity() identity: CallerIdentity, @Body(contract(ProfileUpdate)) body: ProfileUpdate): Promise<Me> {
    accepted(await rename(this.deps, personOf(identity).person_id, body.name, metaOf(identity)));
    return this.#me(identity);
  }

  @Post('logout')
  async logout(@Identity() identity: CallerIdentity): Promise<Reply<Ok>> {
    const actor = personOf(identity);
    await revokeSession(this.deps.pool, actor.person_id, actor.session_id);
    return respond({ ok: true }, { headers: { 'Set-Cookie': endedSessionCookie(this.deps.config.publicUrl) } });
  }

  @Get('sessions')
  async sessions(@Identity() identity: CallerIdentity): Promise<SessionList> {
    const actor = personOf(identity);
    const sessions = await sessionsOf(this.deps.pool, actor.person_id);
    const items = sessions.map((session) => sessionView(session, actor.session_id));
    return listBody(items, { total: items.length, hasMore: false });
  }

  @Delete('sessions/:id')
  async revoke(@Identity() identity: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams): Promise<void> {
    if (!(await revokeSession(this.deps.pool, personOf(identity).person_id, id))) throw new Problem('session_not_found');
  }

  @Post('sessions/revoke-all')
  async revokeAll(@Identity() identity: CallerIdentity, @Body(contract(RevokeSessions)) body: RevokeSessions): Promise<SessionsRevoked> {
    const actor = personOf(identity);
    return { revoked: await revokeSessions(this.deps.pool, actor.person_id, body.include_current ? null : actor.session_id) };
  }

  @Post('change-password')
  async changePassword(
    @Identity() identity: CallerIdentity,
    @Body(contract(ChangePassword)) body: ChangePassword,
    @Headers() headers: RequestHeaders,
  ): Promise<Reply<LoggedIn>> {
    const actor = personOf(identity);
    const command = { person: actor.person_id, session: actor.session_id, current: body.current_password, next: body.new_password };
    const signedIn = accepted(await changePassword(this.deps, { ...command, client: clientOf(headers, body.cookie) }, metaOf(identity)));
    return signedInReply(signedIn, { cookie: body.cookie, publicUrl: this.deps.config.publicUrl });
  }

  @Get('invite/:token')
  async invitation(@Param(contract(TokenParams)) { token }: TokenParams): Promise<InviteInfo> {
    const { email, role, project, expiresAt } = accepted(await readInvitation(this.deps, token));
    return { email, role, project, expires_at: expiresAt };
  }

  @Post('invite/:token')
  async accept(
    @Identity() identity: CallerIdentity,
    @Param(contract(TokenParams)) { token }: TokenParams,
    @Body(contract(InviteAccept)) body: InviteAccept,
    @Headers() headers: RequestHeaders,
  ): Promise<Reply<LoggedIn>> {
    const { name, password, cookie } = body;
    const meta = (person: string) => ({ actor: { kind: 'person' as const, id: person }, request_id: identity.request_id });
    const signedIn = accepted(await acceptInvitation(this.deps, { token, name, password, client: clientOf(headers, cookie) }, meta));
    return signedInReply(signedIn, { cookie, status: 201, publicUrl: this.deps.config.publicUrl });
  }

  async #me(identity: CallerIdentity): Promise<Me> {
    const actor = personOf(identity);
    const person = (await findPersons(this.deps, [actor.person_id])).get(actor.person_id);
    const session = (await sessionsOf(this.deps.pool, actor.person_id)).find((candidate) => candidate.id === actor.session_id);
    const memberships = await membershipsOf(this.deps, actor.person_id);
    const role = memberships.find((membership) => membership.project === actor.project_id)?.role;
    if (!person || !session || !role) throw new Problem('invalid_token');
    return meView({ person, session, memberships, project: actor.project_id, role });
  }
}
