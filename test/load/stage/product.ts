/** The product as somebody runs it, built for production, with telemetry on; and what whoever asks it needs. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { operationOf } from '@countersign/contracts';
import { startAllInOne, startServices, type Topology } from '../../e2e/topology.js';
import type { Stage } from '../figure.js';

/** `store`: all in one process. `kafka`: a process for each service. */
export type Manner = 'store' | 'kafka';

export const TOPOLOGIES: Record<Manner, string> = {
  store: 'All in one process (`npm start`), embedded PostgreSQL; the load from another process.',
  kafka: 'Seven services as processes (`npm run start:services`), embedded PostgreSQL, one Kafka broker; the load from another process.',
};

/** What a process that asks is told; plain data. */
export type Access = {
  url: string;
  /** Of an agent. */
  key: string;
  /** Of a person who may decide. */
  session: string;
  /** Of the owner of the schemas. */
  database: string;
};

export interface Product {
  access: Access;
  topology: Topology;
  dataDir: string;
  stop(): Promise<void>;
}

export async function startProduct(manner: Manner, stage: Stage, settings: Record<string, string> = {}): Promise<Product> {
  const dataDir = join(stage.folder, `data-${manner}`);
  const start = manner === 'store' ? startAllInOne : startServices;
  const topology = await start(
    { OTEL_EXPORTER_OTLP_ENDPOINT: stage.telemetry, WEBHOOK_ALLOW_NETWORKS: '127.0.0.0/8', ...settings },
    dataDir,
  );
  const { url, api_key, reviewer } = topology.credentials;
  const { database_url } = JSON.parse(readFileSync(join(dataDir, 'lock.json'), 'utf8')) as { database_url: string };
  return {
    access: { url, key: api_key, session: await signIn(url, reviewer), database: database_url },
    topology,
    dataDir,
    stop: () => topology.stop(),
  };
}

async function signIn(url: string, person: Topology['credentials']['reviewer']): Promise<string> {
  const { method, path } = operationOf('login');
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(person),
  });
  const { token } = (await answer.json()) as { token?: string };
  if (token === undefined) throw new Error(`The sign-in was answered ${answer.status} and gave no token.`);
  return token;
}
