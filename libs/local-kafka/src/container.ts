/** The broker in a container, for machines with Docker. */
import { freePorts } from '@countersign/database';

const IMAGE = 'apache/kafka:4.4.0';
const START_MS = 180_000;

export async function dockerAnswers(): Promise<boolean> {
  const { getContainerRuntimeClient } = await import('testcontainers');
  return getContainerRuntimeClient().then(
    () => true,
    () => false,
  );
}

/** Clients are told the address they came by, so the port is chosen before the container starts. */
export async function startContainer(): Promise<{ brokers: string; stop(): Promise<void> }> {
  const { GenericContainer, Wait } = await import('testcontainers');
  const [port] = (await freePorts(1)) as [number];
  const container = await new GenericContainer(IMAGE)
    .withExposedPorts({ container: 9092, host: port })
    .withEnvironment({
      KAFKA_PROCESS_ROLES: 'broker,controller',
      KAFKA_NODE_ID: '1',
      KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
      KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
      KAFKA_LISTENERS: 'CLIENT://:9092,CONTROLLER://:9093',
      KAFKA_ADVERTISED_LISTENERS: `CLIENT://127.0.0.1:${port}`,
      KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CLIENT:PLAINTEXT,CONTROLLER:PLAINTEXT',
      KAFKA_INTER_BROKER_LISTENER_NAME: 'CLIENT',
      KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
      KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
      KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
      KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    })
    .withWaitStrategy(Wait.forLogMessage(/Kafka Server started/))
    .withStartupTimeout(START_MS)
    .start();
  return {
    brokers: `127.0.0.1:${port}`,
    async stop() {
      await container.stop();
    },
  };
}
