import { createLogger } from '@countersign/telemetry';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createServiceApp, IDENTITY_HEADER, signIdentity } from '../index.js';
import { ACTOR, KEY, NotesModule } from '../notes.fixture.js';

describe('the guard', () => {
  let app: NestFastifyApplication;
  beforeAll(async () => {
    app = await createServiceApp(NotesModule, {
      service: 'intake',
      identityKey: KEY,
      logger: createLogger({ service: 'intake', level: 'silent' }),
    });
  });
  afterAll(() => app.close());

  const identity = (changes: object = {}) => ({
    actor: ACTOR,
    aud: 'intake',
    method: 'GET',
    path: '/api/v1/notes/1',
    body_sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    request_id: 'request-1',
    exp: Date.now() + 10_000,
    ...changes,
  });
  const get = async (header: string | undefined, path = '/api/v1/notes/1') =>
    (await app.inject({ method: 'GET', url: path, headers: header === undefined ? {} : { [IDENTITY_HEADER]: header } })).statusCode;

  it('I1 answers nobody without the signature, not even that a route is unknown', async () => {
    expect(await get(signIdentity(identity(), KEY))).toBe(200);
    expect(await get(undefined)).toBe(401);
    expect(await get(undefined, '/api/v1/nothing')).toBe(401);
    expect(await get(undefined, '/internal/ready')).toBe(401);
    expect(await get('')).toBe(401);
    expect(await get('a.b')).toBe(401);
    expect(await get(signIdentity(identity(), 'another key'))).toBe(401);
    expect(await get(`${signIdentity(identity(), KEY)}.x`)).toBe(401);
    expect(await get(`x${signIdentity(identity(), KEY)}`)).toBe(401);
    const [payload] = signIdentity(identity(), KEY).split('.');
    expect(await get(`${payload}.`)).toBe(401);
  });

  it.each([
    ['service', { aud: 'decisions' }],
    ['method', { method: 'POST' }],
    ['path', { path: '/api/v1/notes/2' }],
    ['query', { path: '/api/v1/notes/1?all=true' }],
    ['time', { exp: Date.now() - 1 }],
    ['body', { body_sha256: 'f'.repeat(64) }],
  ])('I2 refuses an identity for another %s', async (_, changes) => {
    expect(await get(signIdentity(identity(changes), KEY))).toBe(401);
  });

  it('I2 refuses another body before it is read as JSON', async () => {
    const header = signIdentity(identity({ method: 'POST', path: '/api/v1/notes' }), KEY);
    const answer = await app.inject({
      method: 'POST',
      url: '/api/v1/notes',
      headers: { [IDENTITY_HEADER]: header, 'content-type': 'application/json' },
      payload: '{nonsense',
    });
    expect(answer.statusCode).toBe(401);
  });

  it('lets probes ask whether it is up', async () => {
    expect(await get(undefined, '/health')).toBe(200);
    expect(await get(undefined, '/health/ready')).toBe(200);
    expect(await get(signIdentity(identity({ path: '/internal/ready' }), KEY), '/internal/ready')).toBe(200);
  });
});
