/** The same number of messages of the same size with nothing but the client: one process produces, this one consumes and reads their JSON. */
import { until } from '@countersign/testing';
import { Kafka, logLevel } from 'kafkajs';
import type { Side } from '../figure.js';
import { beside, forkedSide } from '../stage/forked.js';

const TOPIC = 'bare';
const PARTITIONS = 12;

export async function start({ brokers }: { brokers: string }): Promise<Side> {
  const kafka = new Kafka({ brokers: [brokers], clientId: 'bare', logLevel: logLevel.NOTHING });
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: [{ topic: TOPIC, numPartitions: PARTITIONS, replicationFactor: 1 }], waitForLeaders: true });
  await admin.disconnect();
  const consumer = kafka.consumer({ groupId: 'bare' });
  let handled = 0;
  await consumer.connect();
  await consumer.subscribe({ topic: TOPIC, fromBeginning: true });
  await consumer.run({
    async eachBatch({ batch }) {
      for (const { value } of batch.messages) handled += JSON.parse(String(value)) ? 1 : 0;
    },
  });
  const producing = await forkedSide(beside(import.meta, './producing'), { brokers, topic: TOPIC });
  return {
    async round(seconds) {
      handled = 0;
      const began = performance.now();
      const { event_count } = await producing.round(seconds);
      await until(
        () => handled,
        (count) => count >= (event_count as number),
      );
      return { per_s: handled / ((performance.now() - began) / 1_000) };
    },
    async close() {
      await producing.close();
      await consumer.disconnect();
    },
  };
}
