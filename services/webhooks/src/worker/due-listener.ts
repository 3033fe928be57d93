import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '@countersign/telemetry';
import type { Pool, PoolClient } from 'pg';
import { DUE_CHANNEL } from '../queue/queue.js';

export interface Listening {
  close(): Promise<void>;
}

const RECONNECT_MS = 1_000;

/**
 * Keeps one connection that hears when something becomes due. Without it the poll finds the same, a little later. The bus has a listener too,
 * but one that stands for a member: by the lock it holds others know which leases are alive. What it hears belongs to the bus.
 */
export function listenForDue({ pool, logger }: { pool: Pool; logger: Logger }, onDue: () => void): Listening {
  const stop = new AbortController();
  const listening = listen();

  async function listen(): Promise<void> {
    while (!stop.signal.aborted) {
      try {
        const client = await pool.connect();
        await untilItEnds(client);
      } catch (error) {
        logger.debug({ err: error }, 'not listening for due deliveries, polling instead');
      }
      await sleep(RECONNECT_MS, undefined, { signal: stop.signal }).catch(() => undefined);
    }
  }

  async function untilItEnds(client: PoolClient): Promise<void> {
    try {
      await client.query(`listen ${DUE_CHANNEL}`);
      client.on('notification', onDue);
      onDue();
      await new Promise<void>((resolve) => {
        client.once('error', () => resolve());
        client.once('end', () => resolve());
        stop.signal.addEventListener('abort', () => resolve());
        if (stop.signal.aborted) resolve();
      });
    } finally {
      client.removeListener('notification', onDue);
      // A connection that listens is not one the pool may hand out.
      client.release(true);
    }
  }

  return {
    close() {
      stop.abort();
      return listening;
    },
  };
}
