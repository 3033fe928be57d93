import { IdParams, type Member, MemberInvite, type MemberInvited, type MemberList, MemberUpdate } from '@countersign/contracts';
import { type CallerIdentity, contract, Identity, listBody, type Reply, respond } from '@countersign/http';
import { Body, Controller, Delete, Get, Inject, Param, Post, Put } from '@nestjs/common';
import { changeMember, endMember, inviteMember, teamOf } from '../commands/team.js';
import { DEPS, type DirectoryDeps } from '../deps.js';
import { accepted, adminOf, metaOf, personOf } from './caller.js';
import { memberView } from './views.js';

/** The people of a project (HRP §1.6). */
@Controller('/api/v1/settings/team')
export class TeamController {
  constructor(@Inject(DEPS) private readonly deps: DirectoryDeps) {}

  @Get()
  async team(@Identity() identity: CallerIdentity): Promise<MemberList> {
    const items = (await teamOf(this.deps, personOf(identity).project_id)).map(memberView);
    return listBody(items, { total: items.length, hasMore: false });
  }

  @Post('invite')
  async invite(@Identity() identity: CallerIdentity, @Body(contract(MemberInvite)) body: MemberInvite): Promise<Reply<MemberInvited>> {
    const admin = adminOf(identity);
    const command = { project: admin.project_id, by: admin.person_id, email: body.email, role: body.role ?? 'reviewer' } as const;
    const { id, email, role, expiresAt, token, seen } = accepted(await inviteMember(this.deps, command, metaOf(identity)));
    const url = new URL(`/invite#${token}`, this.deps.config.publicUrl).href;
    const headers = { 'Cache-Control': 'no-store' };
    return respond({ id, email, role, expires_at: expiresAt, invite_url: url }, { status: 201, seen, headers });
  }

  @Put(':id')
  async update(
    @Identity() identity: CallerIdentity,
    @Param(contract(IdParams)) { id }: IdParams,
    @Body(contract(MemberUpdate)) body: MemberUpdate,
  ): Promise<Reply<Member>> {
    const admin = adminOf(identity);
    const member = { project: admin.project_id, person: id, by: admin.person_id };
    const change = { role: body.role, active: body.is_active };
    const { value, seen } = accepted(await changeMember(this.deps, member, change, metaOf(identity)));
    return respond(memberView(value), { seen });
  }

  @Delete(':id')
  async remove(@Identity() identity: CallerIdentity, @Param(contract(IdParams)) { id }: IdParams): Promise<Reply<undefined>> {
    const admin = adminOf(identity);
    const member = { project: admin.project_id, person: id, by: admin.person_id };
    const { seen } = accepted(await endMember(this.deps, member, metaOf(identity)));
    return respond(undefined, { status: 204, seen });
  }
}
