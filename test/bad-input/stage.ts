/** What a file of tests against the running product begins and ends with: a target of its own, watched for what it stores, logs and keeps. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { examplesOf } from './schemas.js';
import { ROUTES, type Route, startTarget, type Target } from './target.js';

export const JSON_TYPE = { 'content-type': 'application/json' };
export const WITH_BODY = ROUTES.filter(({ body }) => body !== undefined);
export const WITH_PARAMETER = ROUTES.filter(({ path }) => path.includes('{'));
export const id = (route: Route): string => route.id;

export class Stage {
  #target: Target | null = null;
  #pids: number[] = [];
  #megabytes = 0;
  /** What is stored; taken once for all that store nothing. */
  #stored: Record<string, string> | null = null;

  constructor() {
    beforeAll(async () => {
      this.#target = await startTarget();
      this.#pids = this.target.server.topology.inspect().pids;
      this.#megabytes = this.#memory();
    });
    afterAll(() => this.#target?.stop());
  }

  get target(): Target {
    if (this.#target === null) throw new Error('The target is there only while a test runs.');
    return this.#target;
  }

  /** A body the route takes. */
  rightBody(route: Route): string | undefined {
    return route.body ? JSON.stringify(examplesOf(this.target.document, route)[0]) : undefined;
  }

  /** Whatever is refused leaves nothing behind. `work`: tells what did not go as it should. */
  async storesNothing(work: () => Promise<unknown>): Promise<void> {
    const before = this.#stored ?? (await this.target.footprint());
    this.#stored = null;
    expect(await work()).toEqual([]);
    this.#stored = await this.target.footprint();
    expect(this.#stored).toEqual(before);
  }

  /** What is done here may be stored. */
  async stores(work: () => Promise<unknown>): Promise<void> {
    this.#stored = null;
    expect(await work()).toEqual([]);
  }

  /** Tests for the end of the file. */
  endsUnharmed(): void {
    describe('after all that', () => {
      it('the same server goes on: it is ready, its log verifies, and a person decides', async () => {
        const { admin, topology } = this.target.server;
        expect(topology.inspect().pids).toEqual(this.#pids);
        expect((await this.target.ask('GET', '/health/ready')).status).toBe(200);
        expect(await admin.do('verifyAudit')).toMatchObject({ valid: true, first_bad: null });
        const { id } = await this.target.server.ask();
        expect((await admin.act(id, 'approve')).decision).toBe('approved');
      });

      it('no fault was logged', () => {
        expect(this.target.server.topology.inspect().log).toBe('');
      });

      it('its memory is bounded', () => {
        expect(this.#memory() - this.#megabytes).toBeLessThan(400);
      });
    });
  }

  /** Resident memory of the product's processes, in megabytes. */
  #memory(): number {
    const sizes = this.target.server.topology
      .inspect()
      .pids.map((pid) => /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
    return sizes.reduce((sum, size) => sum + Number(size) / 1_024, 0);
  }
}
