import { type ApiInfo, errorPage, type Health, openApiText, type Readiness, type ServiceName } from '@countersign/contracts';
import { Problem, type ReadyCheck, type Reply, respond, type ServiceClient } from '@countersign/http';
import { Controller, Get, Inject, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import type { GatewayConfig } from './config.js';
import { readiness } from './readiness.js';

export const META_PARTS = Symbol('MetaParts');

export interface MetaParts {
  client: ServiceClient;
  pool: Pool;
  own: () => Promise<Record<string, ReadyCheck>>;
  services: readonly ServiceName[];
  config: GatewayConfig;
  /** `all-in-one` or `services`, for GET /api/v1. */
  mode: string;
}

const text = (body: string, type: string): Reply<string> =>
  respond(body, { headers: { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'public, max-age=300' } });

/** Server status and metadata. */
@Controller()
export class MetaController {
  readonly #openApi = openApiText();
  readonly #errorPage = errorPage();

  constructor(@Inject(META_PARTS) private readonly parts: MetaParts) {}

  @Get('health')
  health(): Health {
    return { status: 'ok', timestamp: new Date().toISOString() };
  }

  @Get('health/ready')
  async ready(@Req() request: FastifyRequest): Promise<Reply<Readiness>> {
    const { ready, body } = await readiness({ ...this.parts, requestId: request.id });
    return respond(
      { ...body, timestamp: new Date().toISOString() },
      { status: ready ? 200 : 503, headers: { 'cache-control': 'no-store' } },
    );
  }

  @Get('api/v1')
  info(): ApiInfo {
    return { version: '1', protocol: 'HRP/1.0', name: 'Countersign', mode: this.parts.mode };
  }

  @Get('api/v1/openapi.json')
  openApi(): Reply<string> {
    return respond(this.#openApi, { headers: { 'content-type': 'application/json; charset=utf-8' } });
  }

  @Get('docs/errors')
  errors(): Reply<string> {
    return text(this.#errorPage, 'text/markdown');
  }

  @Get('.well-known/security.txt')
  security(): Reply<string> {
    const contact = this.parts.config.securityContact;
    if (contact === undefined) throw new Problem('route_not_found', 'SECURITY_CONTACT is not set.');
    const nextYear = new Date(Date.now() + 365 * 86_400_000).toISOString();
    return text(`Contact: ${contact}\nExpires: ${nextYear}\nPreferred-Languages: en\n`, 'text/plain');
  }
}
