export { kafkaArtifacts, LocalKafkaError } from './artifacts.js';
export { type LocalKafka, type LocalKafkaOptions, startLocalKafka } from './broker.js';
