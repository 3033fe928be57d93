import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { SCENARIOS } from './scenarios.js';
import { Station } from './station.js';

jest.setTimeout(180_000);

let station: Station;

beforeAll(async () => {
  station = await Station.start();
});
afterAll(() => station?.stop());

async function soundLog(): Promise<void> {
  const report = await station.admin.do('verifyAudit');
  expect(report).toMatchObject({ valid: true, first_bad: null });
}

describe('the product', () => {
  it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
    await scenario(station, async () => {});
  });

  it('leaves a log that verifies', soundLog);
});

describe('the product, killed and started again at every moment', () => {
  it.each(Object.entries(SCENARIOS))('%s', async (_, scenario) => {
    await scenario(station, () => station.topology.killAndRestart());
  });

  it('leaves a log that verifies', soundLog);
});
