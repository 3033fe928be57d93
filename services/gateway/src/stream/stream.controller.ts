import type { AgentActor, PersonActor, StreamTicket } from '@countersign/contracts';
import { Controller, Get, Inject, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Admitted } from '../admission/admission.js';
import { StreamHub } from './hub.js';
import { Tickets } from './tickets.js';

@Controller('api/v1/events')
export class StreamController {
  constructor(
    @Inject(StreamHub) private readonly hub: StreamHub,
    @Inject(Tickets) private readonly tickets: Tickets,
  ) {}

  @Post('ticket')
  ticket(@Req() request: FastifyRequest): Promise<StreamTicket> {
    return this.tickets.issue(callerOf(request));
  }

  @Get('stream')
  async stream(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const actor = callerOf(request);
    this.hub.admit(actor);
    const response = reply.raw;
    for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) response.setHeader(name, value);
    reply.hijack();
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    });
    const last = request.headers['last-event-id'];
    await this.hub.serve(actor, response, typeof last === 'string' && last !== '' ? last : undefined);
  }
}

function callerOf(request: FastifyRequest): AgentActor | PersonActor {
  return (request.admitted as Admitted).actor as AgentActor | PersonActor;
}
