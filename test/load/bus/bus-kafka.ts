import { startLocalKafka } from '@countersign/local-kafka';
import { type Figure, ratio } from '../figure.js';
import { startDatabase } from '../stage/database.js';
import { beside, forkedSide } from '../stage/forked.js';

export const BUS_KAFKA: Figure = {
  name: 'bus-kafka',
  title: 'bus, batches (kafka)',
  topology:
    'One Node process appends through the store, another relays to one Kafka broker and consumes in batches of up to 500, with a handler that does nothing in the transaction that moves the cursor; from the first event appended to the last one handled.',
  beside:
    'bare kafkajs: one process produces as many messages of the same size, in batches of 500 with acks from all, another consumes them and reads their JSON.',
  claims: [{ what: 'of bare kafkajs', unit: '×', value: ratio('per_s', 'ours', 'bare'), better: 'more', required: 0.6, goal: 0.8 }],
  async open(stage) {
    const database = await startDatabase(stage.folder);
    const kafka = await startLocalKafka({ dataDir: `${stage.folder}/kafka` });
    return {
      sides: {
        ours: await forkedSide(beside(import.meta, './kafka-bus'), { database: database.url, brokers: kafka.brokers }),
        bare: await forkedSide(beside(import.meta, './bare-kafka'), { brokers: kafka.brokers }),
      },
      async close() {
        await kafka.stop();
        await database.close();
      },
    };
  },
};
