import { newPipelineYaml } from '../../config/new-pipeline.ts';
import { findPayload } from '../../ingest/infer/find-payload.ts';
import type { SampledRecord } from '../../ingest/infer/found-payload.ts';
import type { KafkaClient } from '../../kafka/client.ts';
import { SchemaRegistry } from '../../registry/schema-registry.ts';
import { traitsOf } from '../../table/formats.ts';
import type { InitRequest } from '../app-commands.ts';
import type { Components } from '../components.ts';

/** Bytes of values that are held at a time. */
const maxSampledBytes = 64 * 1024 * 1024;

/**
 * Looks at the newest records of a topic and says what a pipeline of it looks like, as YAML.
 *
 * @throws ServiceError `KAFKA_TOPIC_NOT_FOUND`, `KAFKA_UNAVAILABLE`, `REGISTRY_UNAVAILABLE`, `REGISTRY_UNAUTHORIZED`.
 */
export async function initPipeline({ kafka, config }: Components, request: InitRequest, signal: AbortSignal): Promise<string> {
  const { topic, format } = request;
  const { records, partitions } = await newestRecords(kafka, request, signal);
  const { schemaRegistry } = config;
  const registry = schemaRegistry === undefined ? undefined : new SchemaRegistry({ ...schemaRegistry, onUnknownSchema: 'dead-letter' });
  const payload = await findPayload(records, {
    limits: traitsOf[format],
    wholeEvents: request.wholeEvents,
    schemaOf: registry === undefined ? undefined : (key) => registry.schema(key, signal),
  });
  return newPipelineYaml({
    topic,
    table: request.table,
    format,
    brokers: config.kafka.brokers,
    registryUrl: schemaRegistry?.url,
    payload,
    basis: `the newest ${records.length} records of ${partitions} partitions of the topic ${topic}`,
  });
}

async function newestRecords(
  kafka: KafkaClient,
  { topic, records: wanted }: InitRequest,
  signal: AbortSignal,
): Promise<{ readonly records: readonly SampledRecord[]; readonly partitions: number }> {
  const held = await kafka.admin.offsets(topic);
  const each = BigInt(Math.max(1, Math.ceil(wanted / Math.max(1, held.length))));
  const sampled: { readonly timestampMs: number; readonly record: SampledRecord }[] = [];
  let bytes = 0;
  for (const { partition, earliest, latest } of held) {
    const from = latest - each > earliest ? latest - each : earliest;
    for await (const { value, headers, timestampMs } of kafka.readPartition({ topic, partition, from, until: latest, signal })) {
      bytes += value?.length ?? 0;
      if (bytes > maxSampledBytes && sampled.length > 0) break;
      sampled.push({ timestampMs, record: { value, headers } });
    }
  }
  sampled.sort((left, right) => left.timestampMs - right.timestampMs);
  return { records: sampled.map(({ record }) => record), partitions: held.length };
}
