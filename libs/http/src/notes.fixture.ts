/** A small service of notes: every kind of answer a service app can give. */
import { type AgentActor, ReviewWithdraw, TemplateUpdate, Type } from '@countersign/contracts';
import { EventStoreUnavailableError, Retryable, StreamBusyError, UnknownEventError } from '@countersign/event-store';
import { Body, Controller, Delete, Get, Module, Param, Post, Put, Query } from '@nestjs/common';
import { type CallerIdentity, contract, Identity, Problem, problemOf, type Reply, respond } from './index.js';

export const KEY = 'an identity key of at least thirty-two characters';
export const ACTOR: AgentActor = {
  kind: 'agent',
  key_id: 'key_1',
  key_prefix: 'gwk_12345678',
  name: 'Ünïcode 🤖',
  project_id: 'prj_1',
  scopes: ['reviews:read'],
  template_ids: null,
  owner: null,
  contact: null,
  default_reviewer: null,
  rate_limit_per_hour: null,
};

const Note = Type.Object({ text: Type.String({ minLength: 1 }), tags: Type.Optional(Type.Array(Type.String())) });
const NoteQuery = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100 })),
  tag: Type.Optional(Type.Array(Type.String())),
});

/** What passes, as libraries throw it, and what it is wrapped in. */
export const TROUBLE: Record<string, Error> = {
  retryable: new Retryable('Not yet.', { retryAfterMs: 7_500 }),
  unavailable: new EventStoreUnavailableError('The event store could not be written to.', { cause: new Error('no') }),
  busy: new StreamBusyError('rev_1'),
  unknown: new UnknownEventError({ type: 'note.teleported', stream: 'rev_1' }),
  wrapped: new Error('The note could not be read.', { cause: new Error('Connection terminated unexpectedly') }),
  'wrapped-retryable': new Error('The note could not be read.', { cause: new Retryable('Not yet.', { retryAfterMs: 2_001 }) }),
  deadlock: Object.assign(new Error('deadlock detected'), { code: '40P01' }),
};

@Controller('api/v1/notes')
class NotesController {
  @Post()
  create(@Body(contract(Note)) body: { text: string }, @Identity() caller: CallerIdentity): Reply<unknown> {
    return respond(
      { ...body, by: caller.actor, request_id: caller.request_id },
      { status: 201, seen: { position: 42, events: [{ bucket: 7 }] } },
    );
  }
  @Get()
  list(@Query(contract(NoteQuery)) query: object) {
    return { query };
  }
  @Get(':id')
  get(@Param('id') id: string) {
    if (id === 'refused') throw problemOf({ code: 'review_already_decided', message: 'Decided.', extra: { review: { id: 'rev_1' } } });
    if (id === 'boom') throw new Error('the password is hunter2');
    if (id === 'down') throw Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    if (id === 'late') throw new Problem('rate_limit_exceeded', undefined, { headers: { 'Retry-After': '3' } });
    const trouble = TROUBLE[id];
    if (trouble) throw trouble;
    if (id === 'odd') throw problemOf({ code: 'no_such_code', message: 'x' });
    return { id };
  }
  @Delete(':id')
  remove(): void {}
  @Post(':id/old')
  old() {
    return respond({ ok: true }, { replayed: true, deprecated: { successor: '/api/v1/notes', sunset: 'Wed, 01 Dec 2026 00:00:00 GMT' } });
  }
}

/** Operations of the table, whose body may be left out, and may not. */
@Controller('api/v1')
class OptionalController {
  @Post('reviews/:id/withdraw')
  withdraw(@Body(contract(ReviewWithdraw)) body: ReviewWithdraw) {
    return { body };
  }
  @Put('templates/:id')
  update(@Body(contract(TemplateUpdate)) body: TemplateUpdate) {
    return { body };
  }
}

@Module({ controllers: [NotesController, OptionalController] })
export class NotesModule {}
