/** Produces the messages of a round with nothing but the client: batches of 500, acknowledged by all, two at a time. */
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import { BODY_TEXT, META_TEXT, TYPE } from '../append/event.js';
import type { Side } from '../figure.js';
import { BATCH, PER_S } from './messages.js';

const AT_A_TIME = 2;

export async function start({ brokers, topic }: { brokers: string; topic: string }): Promise<Side> {
  const kafka = new Kafka({ brokers: [brokers], clientId: 'producing', logLevel: logLevel.NOTHING });
  const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner });
  await producer.connect();
  let key = 0;
  return {
    async round(seconds) {
      let left = Math.ceil(PER_S * seconds);
      const event_count = left;
      const send = async () => {
        while (left > 0) {
          const count = Math.min(BATCH, left);
          left -= count;
          const messages = Array.from({ length: count }, () => ({
            key: String(++key),
            value: BODY_TEXT,
            headers: { type: TYPE, meta: META_TEXT },
          }));
          await producer.send({ topic, acks: -1, messages });
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, send));
      return { event_count };
    },
    close: () => producer.disconnect(),
  };
}
