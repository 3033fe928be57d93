/** The topics: one for each category of streams, with a partition for each bucket (K11), and one for the ends of pages. */
import type { Admin, Kafka } from 'kafkajs';
import { KafkaRefusedError } from './refusal.js';

/** Consumers that were away longer read the store. Erased bodies are gone from the topics after this time as well. */
const RETENTION_MS = 24 * 3_600_000;
/** A service that starts while the brokers are away does not wait for them. */
const ADMIN_RETRIES = 2;
const CREATE_MS = 10_000;

export const topicOf = (prefix: string, category: string): string => `${prefix}.${category}.v1`;
export const pagesTopic = (prefix: string): string => `${prefix}.pages.v1`;

/**
 * Makes the topics that are missing and checks those that are there.
 * @param options.replication brokers that keep each message; -1 leaves it to the cluster's default.
 * @throws {KafkaRefusedError} a topic has another number of partitions than its events have buckets: their order could not be kept.
 */
export async function ensureTopics(
  kafka: Kafka,
  options: { prefix: string; categories: readonly string[]; partitions: number; replication: number },
): Promise<void> {
  const wanted = new Map(options.categories.map((category) => [topicOf(options.prefix, category), options.partitions]));
  wanted.set(pagesTopic(options.prefix), 1);
  const admin = kafka.admin({ retry: { retries: ADMIN_RETRIES } });
  await admin.connect();
  try {
    const there = new Set(await admin.listTopics());
    const present = [...wanted.keys()].filter((topic) => there.has(topic));
    await checkPartitions(admin, present, wanted);
    const missing = [...wanted].filter(([topic]) => !there.has(topic));
    if (missing.length === 0) return;
    await admin.createTopics({
      waitForLeaders: true,
      timeout: CREATE_MS,
      topics: missing.map(([topic, numPartitions]) => ({
        topic,
        numPartitions,
        replicationFactor: options.replication,
        configEntries: [{ name: 'retention.ms', value: String(RETENTION_MS) }],
      })),
    });
    // Another process may have made them first.
    await checkPartitions(
      admin,
      missing.map(([topic]) => topic),
      wanted,
    );
  } finally {
    await admin.disconnect();
  }
}

async function checkPartitions(admin: Admin, names: string[], wanted: ReadonlyMap<string, number>): Promise<void> {
  if (names.length === 0) return;
  const { topics } = await admin.fetchTopicMetadata({ topics: names });
  for (const { name, partitions } of topics) {
    const expected = wanted.get(name);
    if (partitions.length === expected) continue;
    throw new KafkaRefusedError(
      `Kafka topic ${name} has ${partitions.length} partitions and must have ${expected}: events of one stream would change their place. Remove the topic, or set another KAFKA_TOPIC_PREFIX.`,
    );
  }
}
