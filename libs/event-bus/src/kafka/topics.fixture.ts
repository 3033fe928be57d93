/** Looks into topics, and clears them away, without any of this library. */
import { randomUUID } from 'node:crypto';
import { Kafka, type KafkaMessage, logLevel } from 'kafkajs';

/**
 * The first messages of a topic, at least so many. A producer that was not answered sends again: of an event's copies the first counts, and
 * the others must be the same.
 */
export async function readTopic(kafka: Kafka, topic: string, count: number): Promise<(KafkaMessage & { partition: number })[]> {
  const consumer = kafka.consumer({ groupId: `plain-${randomUUID()}`, maxWaitTimeInMs: 100 });
  const messages = new Map<string, KafkaMessage & { partition: number }>();
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await new Promise<void>((resolve, reject) => {
    consumer
      .run({
        autoCommit: false,
        async eachMessage({ message, partition }) {
          const event = String(message.headers?.ce_position ?? `${partition} ${message.offset}`);
          const first = messages.get(event);
          if (first === undefined) messages.set(event, { ...message, partition });
          else if (String(message.value) !== String(first.value)) reject(new Error(`Two messages differ for position ${event}.`));
          if (messages.size >= count) resolve();
        },
      })
      .catch(reject);
  });
  await consumer.disconnect();
  return [...messages.values()];
}

/** Leaves brokers that others use as they were. @param prefix of all topics a run has made. */
export async function removeTopics(brokers: string[], prefix: string): Promise<void> {
  const admin = new Kafka({ brokers, clientId: 'specs', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  await admin.disconnect();
}
