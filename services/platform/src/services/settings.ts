import { type ConfigOf, declareSettings, type Environment, loadConfig } from '@countersign/config';

/** What `npm run start:services` needs beside the settings of the services themselves. */
export const SERVICES_SETTINGS = declareSettings('Services on this machine', {
  brokers: { env: 'KAFKA_BROKERS', type: 'list', optional: true, meaning: 'Kafka brokers to use; a local one is started when not set.' },
  replicas: {
    env: 'REPLICAS',
    type: 'int',
    default: 1,
    min: 1,
    max: 8,
    meaning: 'Processes of each service. Gateways listen on PORT, PORT + 1, and so on.',
  },
});

/** @throws {ConfigError} */
export const servicesConfig = (environment: Environment): ConfigOf<(typeof SERVICES_SETTINGS)['settings']> =>
  loadConfig({ services: SERVICES_SETTINGS }, environment).services;
