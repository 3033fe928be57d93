import { once } from 'node:events';
import { request as send } from 'node:http';
import { createLogger, currentTrace } from '@countersign/telemetry';
import { collectTelemetry } from '@countersign/testing';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Body, Controller, Get, Module, Param, Post, Req } from '@nestjs/common';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { createHttpApp, createServiceApp, injectTransport, ServiceClient } from '../index.js';
import { ACTOR, KEY, NotesModule } from '../notes.fixture.js';

const AGENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
const REVIEW = 'rev_01m8p1pptcesbr567ck3hgwdq0';

let service: NestFastifyApplication;
let client: ServiceClient;

/** An edge in front of the notes: what it is asked, it asks them. */
@Controller()
class EdgeController {
  @Post('reviews/:id')
  async ask(@Param('id') id: string, @Body() text: string, @Req() request: FastifyRequest) {
    const options = { actor: ACTOR, request_id: request.id };
    const made = await client.call('intake', { ...options, method: 'POST', path: '/api/v1/notes', body: { text: String(text) } });
    const failed = await client.call('intake', { ...options, method: 'GET', path: '/api/v1/notes/boom' });
    return { id, made: made.status, failed: failed.status, trace: currentTrace()?.traceparent };
  }
  @Get('slow')
  slow() {
    return new Promise(() => {});
  }
}
@Module({ controllers: [EdgeController] })
class EdgeModule {}

const lines: Record<string, unknown>[] = [];
const logger = createLogger({
  service: 'test',
  level: 'debug',
  destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
});
const requests = () => lines.filter((line) => line.msg === 'request');

describe('observed requests', () => {
  let telemetry: Awaited<ReturnType<typeof collectTelemetry>>;
  let edge: NestFastifyApplication;
  let url: string;

  beforeAll(async () => {
    telemetry = await collectTelemetry();
    service = await createServiceApp(NotesModule, { service: 'intake', identityKey: KEY, logger });
    client = new ServiceClient({ transport: injectTransport(() => ({ intake: service })), identityKey: KEY });
    edge = await createHttpApp(EdgeModule, {
      logger,
      observed: { service: 'gateway', level: 'info', subjectOf: () => ({ caller: 'key_1', project_id: 'prj_1' }) },
      prepare: (fastify) => {
        fastify.addContentTypeParser('*', { parseAs: 'buffer' }, async (_: FastifyRequest, body: Buffer) => body.toString());
      },
    });
    await edge.listen(0, '127.0.0.1');
    url = await edge.getUrl();
  });
  afterAll(async () => {
    await edge.close();
    await service.close();
    await telemetry.end();
  });

  it('O1 are one trace, the caller’s, from the edge into the service and through the reading of bodies', async () => {
    const headers = { 'content-type': 'text/plain', traceparent: AGENT, 'x-request-id': 'request-1' };
    const answer = await fetch(`${url}/reviews/${REVIEW}?token=abc&wait=1`, { method: 'POST', headers, body: 'hello' });
    const { trace, ...rest } = (await answer.json()) as { trace: string };
    expect(rest).toEqual({ id: REVIEW, made: 201, failed: 500 });
    await fetch(`${url}/nowhere/secret-path`);
    await fetch(`${url}/health`);
    const abandoned = send(`${url}/slow`).on('error', () => {});
    abandoned.end();
    await once(abandoned, 'socket');
    await new Promise((resolve) => setImmediate(resolve));
    setTimeout(() => abandoned.destroy(), 50);
    for (const deadline = Date.now() + 5_000; !requests().some((line) => line.aborted) && Date.now() < deadline; )
      await new Promise((resolve) => setTimeout(resolve, 10));
    await telemetry.end();
    expect(telemetry.complaints).toEqual([]);

    const { receiver } = telemetry;
    const spans = receiver.trace(AGENT.slice(3, 35));
    const tree = spans.map(({ name, kind, spanId, parentSpanId }) => ({ name, kind, spanId, parentSpanId }));
    const of = (name: string, kind: number) => tree.find((span) => span.name === name && span.kind === kind);
    const [root, asked, answered] = [of('POST /reviews/:id', 2), of('POST', 3), of('POST /api/v1/notes', 2)];
    expect(root).toMatchObject({ parentSpanId: AGENT.slice(36, 52) });
    expect(trace.slice(36, 52)).toBe(root?.spanId);
    expect(asked).toMatchObject({ parentSpanId: root?.spanId });
    expect(answered).toMatchObject({ parentSpanId: asked?.spanId });
    expect(spans).toHaveLength(5);
    expect(spans.filter((span) => span.failed).map((span) => [span.name, span.attributes['error.type']])).toEqual([
      ['GET /api/v1/notes/:id', '500'],
      ['GET', '500'],
    ]);
    expect(spans.find((span) => span.spanId === root?.spanId)?.attributes).toEqual({
      'http.request.method': 'POST',
      'http.route': '/reviews/:id',
      'url.scheme': 'http',
      'network.protocol.version': '1.1',
      'countersign.service': 'gateway',
      'http.response.status_code': 200,
      'countersign.project.id': 'prj_1',
      'countersign.review.id': REVIEW,
    });

    expect(requests().filter((line) => line.trace_id === AGENT.slice(3, 35))).toEqual([
      expect.objectContaining({ level: 'debug', route: '/api/v1/notes', status: 201, request_id: 'request-1', project_id: 'prj_1' }),
      expect.objectContaining({ level: 'debug', route: '/api/v1/notes/:id', status: 500 }),
      expect.objectContaining({ level: 'info', caller: 'key_1', review_id: REVIEW, status: 200, span_id: root?.spanId }),
    ]);
    expect(requests().filter((line) => line.aborted)).toEqual([expect.objectContaining({ route: '/slow' })]);
    expect(JSON.stringify([lines, receiver.raw])).not.toMatch(/secret-path|token=abc/);

    const durations = receiver.points.filter(({ metric }) => metric === 'http.server.request.duration');
    expect(durations.map(({ attributes }) => [attributes['http.route'], attributes['http.response.status_code']])).toEqual(
      expect.arrayContaining([
        ['/reviews/:id', 200],
        ['/api/v1/notes', 201],
        ['/api/v1/notes/:id', 500],
        [undefined, 404],
        ['/slow', undefined],
      ]),
    );
    expect(durations.find(({ attributes }) => attributes['http.route'] === '/reviews/:id')?.attributes).toMatchObject({
      'countersign.waited': true,
    });
    expect(durations.every(({ attributes }) => attributes['http.route'] !== '/health')).toBe(true);
  });
});
