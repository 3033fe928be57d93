import { describe, expect, it } from '@jest/globals';
import { createLogger } from './index.js';

function collect() {
  const lines: Record<string, unknown>[] = [];
  const raw: string[] = [];
  const logger = createLogger({
    service: 'decisions',
    level: 'debug',
    destination: {
      write(line: string) {
        raw.push(line);
        lines.push(JSON.parse(line));
      },
    },
  });
  return { logger, lines, raw };
}

describe('createLogger', () => {
  it('writes one JSON object a line with level, time and service', () => {
    const { logger, lines, raw } = collect();
    logger.info({ review_id: 'rev_1' }, 'review decided');
    expect(lines).toEqual([
      {
        level: 'info',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        service: 'decisions',
        review_id: 'rev_1',
        msg: 'review decided',
      },
    ]);
    expect(raw[0]?.match(/\n/g)).toHaveLength(1);
  });

  it('L1 takes credentials out at any depth, in child bindings too', () => {
    const { logger, lines } = collect();
    logger.child({ request_id: 'r-1', sessionToken: 'abc' }).warn({
      headers: { authorization: 'Bearer abc', 'set-cookie': ['a=1'], accept: '*/*' },
      list: [{ api_key: 'x', password: 12345 }],
      has_secret: true,
      token_count: 3,
    });
    expect(lines[0]).toMatchObject({
      request_id: 'r-1',
      sessionToken: '[redacted]',
      headers: { authorization: '[redacted]', 'set-cookie': '[redacted]', accept: '*/*' },
      list: [{ api_key: '[redacted]', password: '[redacted]' }],
      has_secret: true,
      token_count: 3,
    });
  });

  it('L1 leaves what says whether a credential is set', () => {
    const { logger, lines } = collect();
    const configuration = { KAFKA_PASSWORD: '(not set)', IDENTITY_KEY: '(set)', OTHER_PASSWORD: '(not set) ' };
    logger.info({ configuration });
    expect(lines[0]).toMatchObject({ configuration: { ...configuration, OTHER_PASSWORD: '[redacted]' } });
  });

  it('L2, L3 take keys, tokens and addresses out of text', () => {
    const { logger, raw } = collect();
    logger.info(`key gwk_${'a1b2c3d4'.repeat(8)} of maya@example.com sent Bearer eyJhbGciOi.x.y with whsec_MfKQ9r8GKYqrTwjU`);
    expect(raw[0]).toContain('gwk_a1b2c3d4…');
    logger.info({ path: `/api/v1/auth/invite/csi_${'a-b_'.repeat(11)}` }, `session cst_${'x'.repeat(43)}`);
    expect(raw[1]).toContain('/invite/csi_…"');
    expect(raw[1]).toContain('session cst_…"');
    expect(raw[0]).toContain('…@example.com');
    expect(raw[0]).not.toMatch(/maya|eyJh|MfKQ|a1b2c3d4a1/);
  });

  it('writes of an error its type, message, code, stack and causes, not the row a database error carries', () => {
    const { logger, lines, raw } = collect();
    const cause = Object.assign(new Error('duplicate key'), { code: '23505', detail: 'Key (slug)=(tax-return-of-j-doe) already exists.' });
    logger.error({ err: new Error('could not publish', { cause }) }, 'failed');
    expect(lines[0]?.err).toMatchObject({
      type: 'Error',
      message: 'could not publish',
      cause: { message: 'duplicate key', code: '23505' },
    });
    expect(raw[0]).not.toContain('tax-return');
  });

  it('writes nothing below its level', () => {
    const { logger, lines } = collect();
    logger.trace('x');
    expect(lines).toEqual([]);
  });
});
