import { readFileSync } from 'node:fs';
import { ConfigError, type ConfigOf } from '@countersign/config';
import { type EventBus, type EventBusOptions, KafkaEventBus, StoreEventBus } from '@countersign/event-bus';
import type { KAFKA_SETTINGS } from './settings.js';

/** The bus the configuration names: Kafka where there are brokers, else the event store itself. @throws {ConfigError} */
export function createEventBus(
  options: EventBusOptions,
  kafka: ConfigOf<(typeof KAFKA_SETTINGS)['settings']>,
  { clientId, prefixes }: { clientId: string; prefixes: Readonly<Record<string, string>> },
): EventBus {
  const { brokers, topicPrefix, replication, tls, ca, username, password, mechanism } = kafka;
  if (brokers === undefined || brokers.length === 0) return new StoreEventBus(options);
  return new KafkaEventBus({
    ...options,
    topicPrefix,
    prefixes,
    replication,
    kafka: {
      brokers: [...brokers],
      clientId,
      tls: ca === undefined ? tls : { ca: authorities(ca) },
      sasl: username === undefined ? undefined : { mechanism: mechanism as 'plain', username, password: password ?? '' },
    },
  });
}

function authorities(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ConfigError([`KAFKA_CA_FILE ${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`]);
  }
}
