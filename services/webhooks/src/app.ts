import { createEgress } from '@countersign/egress';
import { EventBusServer } from '@countersign/event-bus/nest-strategy';
import { createServiceApp } from '@countersign/http';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { SUBSCRIPTION } from './consumers.js';
import type { Parts, WebhooksDeps } from './deps.js';
import { observeBacklog } from './queue/backlog.js';
import { webhooksModule } from './webhooks.module.js';
import { directorySecrets } from './worker/secrets.js';
import { Worker } from './worker/worker.js';

export interface WebhooksApp {
  app: NestFastifyApplication;
  /** Begins to consume events and to send what is due. */
  start(): Promise<void>;
  /** Takes no more events, lets running attempts end, and closes the application. What is due stays for the next process. */
  close(): Promise<void>;
}

/** The webhooks service, ready to be injected into; nothing is consumed or sent before `start()`. */
export async function createWebhooksApp(deps: WebhooksDeps): Promise<WebhooksApp> {
  const { pool, store, bus, client, config, logger, identityKey, now, ready } = deps;
  const { allowNetworks, headersTimeout, bodyTimeout, bodyBytes } = config;
  const egress = createEgress({
    allowNetworks,
    resolve: deps.resolve,
    limits: { headersMs: headersTimeout, bodyMs: bodyTimeout, bodyBytes },
  });
  const sender = { egress, secretsOf: directorySecrets(client), version: deps.version ?? '0.0.0', now: now ?? Date.now };
  const parts: Parts = { pool, store, sender, config, logger };
  const app = await createServiceApp(webhooksModule(parts), {
    service: 'webhooks',
    identityKey,
    logger,
    now,
    ready,
  });
  app.connectMicroservice({ strategy: new EventBusServer({ bus, ...SUBSCRIPTION }) });
  const worker = new Worker(parts);
  const unobserve = observeBacklog(pool);
  return {
    app,
    async start() {
      await app.startAllMicroservices();
      worker.start();
    },
    async close() {
      unobserve();
      await worker.close();
      await app.close();
      await egress.close();
    },
  };
}
