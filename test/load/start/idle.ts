/** What the product costs while nobody asks for anything: after its first requests, and after minutes of load. */
import { setTimeout as sleep } from 'node:timers/promises';
import { postgresPid } from '@countersign/platform/fixture';
import { type Figure, measured, type Sample } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';
import { startProduct, TOPOLOGIES } from '../stage/product.js';
import { costOf, costOfAll, familyOf } from './processes.js';

const RATE = 100;
/** What work is still under way is done by then, and V8 has given back what it does not use. */
const SETTLE_S = 15;

export const IDLE: Figure = {
  name: 'idle',
  title: 'all-in-one idle: memory and processor',
  topology: `${TOPOLOGIES.store} Idle for a round after some requests, then load of ${RATE} requests and ${RATE} decisions a second in turn (\`--minutes\`, 10), then idle for a round again. Linux only.`,
  beside: '',
  claims: [
    { what: 'Node RSS', unit: 'MB', value: (round) => measured(round, 'idle', 'node_rss_mb'), better: 'less', required: 250, goal: 180 },
    { what: 'Node CPU', unit: '%', value: (round) => measured(round, 'idle', 'node_cpu_percent'), better: 'less', required: 3 },
    { what: 'PostgreSQL PSS', unit: 'MB', value: (round) => measured(round, 'idle', 'postgres_pss_mb'), better: 'less' },
    { what: 'PostgreSQL CPU', unit: '%', value: (round) => measured(round, 'idle', 'postgres_cpu_percent'), better: 'less' },
    {
      what: 'Node RSS after load, of before',
      unit: '×',
      value: (round) => measured(round, 'after', 'node_rss_mb') / measured(round, 'idle', 'node_rss_mb'),
      better: 'less',
      required: 1.5,
      goal: 1.2,
    },
    {
      what: 'Node RSS at the end of the load, of its middle',
      unit: '×',
      value: (round) => measured(round, 'after', 'grown_ratio_count'),
      better: 'less',
      required: 1.1,
      goal: 1.02,
    },
  ],
  seconds: 60,
  rounds: 1,
  warmUp: false,
  async open(stage) {
    const product = await startProduct('store', stage);
    const load = await forkedSide(beside(import.meta, '../http/open-load'), { ...product.access, rate: RATE });
    const [node] = product.topology.inspect().pids as [number];
    const postgres = () => familyOf(postgresPid(product.dataDir));

    async function idle(seconds: number): Promise<Sample> {
      const before = [costOf(node), costOfAll(postgres())] as const;
      const began = performance.now();
      await sleep(seconds * 1_000);
      const elapsed = (performance.now() - began) / 1_000;
      const after = [costOf(node), costOfAll(postgres())] as const;
      return {
        node_rss_mb: after[0].rss,
        node_cpu_percent: ((after[0].cpu - before[0].cpu) / elapsed) * 100,
        postgres_pss_mb: after[1].pss,
        postgres_cpu_percent: (Math.max(0, after[1].cpu - before[1].cpu) / elapsed) * 100,
      };
    }
    const settled = (seconds: number) => Math.min(SETTLE_S, seconds);
    return {
      sides: {
        idle: {
          async round(seconds) {
            await load.round(Math.min(1, seconds));
            await sleep(settled(seconds) * 1_000);
            return idle(seconds);
          },
          async close() {},
        },
        after: {
          async round(seconds) {
            const half = (stage.minutes * 60) / 4;
            stage.say(`${stage.minutes} minutes of load`);
            await load.round(half);
            const middle = costOf(node).rss;
            const asked = await load.round(half);
            const grown_ratio_count = costOf(node).rss / middle;
            await sleep(settled(seconds) * 1_000);
            return { ...(await idle(seconds)), grown_ratio_count, ...asked };
          },
          close: () => load.close(),
        },
      },
      close: () => product.stop(),
    };
  },
};
