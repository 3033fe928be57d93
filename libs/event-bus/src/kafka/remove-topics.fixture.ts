import { Kafka, logLevel } from 'kafkajs';

/** Leaves brokers that others use as they were. @param prefix of all topics a run has made. */
export async function removeTopics(brokers: string[], prefix: string): Promise<void> {
  const admin = new Kafka({ brokers, clientId: 'specs', logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix));
  if (topics.length > 0) await admin.deleteTopics({ topics });
  await admin.disconnect();
}
