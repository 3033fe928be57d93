/** A PostgreSQL that is there and does not do what it is asked. */
import { until } from '@countersign/platform/fixture';
import { afterAll, beforeAll, describe, it, jest } from '@jest/globals';
import pg from 'pg';
import { Traffic } from '../traffic/traffic.js';
import { type BehindProxy, startBehindProxy } from './behind-proxy.js';
import { outage } from './outage.js';

jest.setTimeout(300_000);

/** Enough for the product and for this test beside it. */
const SLOTS = 70;
const ENOUGH_REFUSALS = 4;

let product: BehindProxy;
beforeAll(async () => {
  product = await startBehindProxy({ max_connections: String(SLOTS) });
  await Traffic.prepare(product.server);
});
afterAll(() => product?.stop());

const connected = async (): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: product.database().url, application_name: 'test' });
  client.on('error', () => {});
  await client.connect();
  return client;
};
const refusing = ({ recorder }: Traffic) => until('callers to be refused', () => recorder.unanswered >= ENOUGH_REFUSALS);

describe('decisions succeed or are told to come again, and everything catches up, when PostgreSQL', () => {
  it('has no connection left for the product', async () => {
    await outage(product.server, async (traffic) => {
      const ours: pg.Client[] = [];
      let taking = true;
      const take = async () => {
        while (taking) {
          const client = await connected().catch(() => null);
          if (client) ours.push(client);
          else await new Promise((resolve) => setTimeout(resolve, 5));
        }
      };
      const takers = [take(), take(), take(), take()];
      await until('all that were left to be taken', () => ours.length >= 20);
      // Whoever is quicker has them now.
      product.proxy.reset();
      await refusing(traffic);
      taking = false;
      await Promise.all(takers);
      await Promise.all(ours.map((client) => client.end()));
    });
  });

  it('holds every statement up, until the pool is exhausted, statements time out, and readers queue up behind them', async () => {
    await outage(product.server, async (traffic) => {
      const { server } = product;
      const { id } = await server.ask();
      const holder = await connected();
      await holder.query('begin; lock table event_store.streams, event_store.events in access exclusive mode');
      const many = Array.from({ length: 60 }, () =>
        traffic.recorder.ask(server.agent, { by: 'agent', what: 'read', review: id, id: 'getReview', options: { path: { id } } }),
      );
      await until('the pool to be exhausted', () => traffic.recorder.unanswered >= many.length);
      await holder.query('rollback');
      await holder.end();
      await Promise.all(many);
    });
  });

  it('has its statements cancelled by an operator, whatever they are', async () => {
    await outage(product.server, async (traffic) => {
      const operator = await connected();
      await until('callers to be refused', async () => {
        await operator.query(
          `select pg_cancel_backend(pid) from pg_stat_activity where state = 'active' and pid <> pg_backend_pid() and application_name like 'countersign%'`,
        );
        return traffic.recorder.unanswered >= ENOUGH_REFUSALS;
      });
      await operator.end();
    });
  });

  it('takes no writes for a while, as one that was failed over to', async () => {
    await outage(product.server, async (traffic) => {
      const operator = await connected();
      const turn = async (readOnly: 'on' | 'off') => {
        await operator.query(
          `set default_transaction_read_only = off; alter database countersign set default_transaction_read_only = ${readOnly}`,
        );
        product.proxy.reset();
      };
      await turn('on');
      await refusing(traffic);
      await turn('off');
      await operator.end();
    });
  });
});
