export type { FeedChange, FeedEnvelope, FeedRecord, FeedRow } from './feed-change.ts';
export { FeedConsumer, type FeedConsumerOptions, type KafkaJsBatch, type KafkaJsConsumer } from './feed-consumer.ts';
export { FeedDecoder, type FeedDecoderOptions } from './feed-decoder.ts';
export { FeedRows } from './feed-rows.ts';
export type { SchemasById } from './payloads.ts';
