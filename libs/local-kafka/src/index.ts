export { kafkaArtifacts, LocalKafkaError } from './artifacts.js';
export { type LocalKafka, type LocalKafkaOptions, startLocalKafka } from './broker.js';
export { type KeyStore, selfSignedKeyStore } from './certificate.js';
export { type TestBroker, testBroker } from './test-broker.js';
