import { type ServiceError, serviceError } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { YamlEntry } from '../pipeline-yaml.ts';
import type { ConnectorOptions } from './connector-options.ts';
import { applyConverters } from './converters.ts';
import { deltaIngest, ingestClient, ingestEncoding } from './delta-ingest.ts';
import { deltaSink } from './delta-sink.ts';
import { icebergSink } from './iceberg-sink.ts';
import { failureEntries, type KafkaClient, kafkaClient } from './kafka-client.ts';
import { migratedPipeline } from './migrated-pipeline.ts';
import { ingestCommand, readConnector } from './read-connector.ts';
import type { RecordDraft } from './record-draft.ts';
import { RecordRow } from './record-row.ts';
import { applyTransforms } from './single-message-transforms.ts';
import type { SinkOffset } from './sink-offsets.ts';
import type { PlannedColumn, SinkPlan } from './sink-plan.ts';

export interface MigrateRequest {
  /** The configuration of the connector. */
  readonly text: string;
  /** What it is called in errors. */
  readonly where: string;
  /** Bootstrap servers, which connectors mostly do not name. */
  readonly brokers?: readonly string[] | undefined;
  /** What the records hold, where it is known. */
  readonly columns?: readonly PlannedColumn[] | undefined;
  /** How far the sink is: records before are left out. Without them each route stands still at its first record. */
  readonly offsets?: readonly SinkOffset[] | undefined;
}

/** How the options of a sink are read. */
interface Sink {
  readonly plan: (options: ConnectorOptions, draft: RecordDraft) => SinkPlan;
  readonly client: (options: ConnectorOptions, brokers: readonly string[] | undefined) => KafkaClient;
  /** Puts the encoding of values into the draft; the result is of `schemaRegistry`. */
  readonly encoding: (draft: RecordDraft) => readonly YamlEntry[];
  readonly failures: (options: ConnectorOptions) => readonly YamlEntry[];
}

const connect = { client: kafkaClient, encoding: applyConverters, failures: failureEntries };
const iceberg: Sink = { ...connect, plan: icebergSink };
const delta: Sink = { ...connect, plan: deltaSink };

/** By the class of the connector. */
const sinks: Readonly<Record<string, Sink | undefined>> = {
  'org.apache.iceberg.connect.IcebergSinkConnector': iceberg,
  'io.tabular.iceberg.connect.IcebergSinkConnector': iceberg,
  'io.confluent.connect.databricks.deltalake.DatabricksDeltaLakeSinkConnector': delta,
  DatabricksDeltaLakeSink: delta,
  [ingestCommand]: { plan: deltaIngest, client: ingestClient, encoding: ingestEncoding, failures: () => [] },
};

/**
 * The configuration of a pipeline that does what a sink of Kafka Connect does, as YAML: each line with the option that it comes from, and
 * comments with all options that came to nothing. It is accepted as it is when the variables are set that its beginning names. Secrets are not
 * in it.
 *
 * @throws ServiceError `CONFIG_CONNECTOR_INVALID`, `CONFIG_CONNECTOR_UNKNOWN` (kind invalid).
 */
export function migrateConnector(request: MigrateRequest): string {
  const options = readConnector(request.text, request.where);
  const sink = Object.hasOwn(sinks, options.className) ? sinks[options.className] : undefined;
  if (sink === undefined) throw unknownConnector(options.className);
  const draft: RecordDraft = {
    options,
    given: request.columns,
    value: new Map(),
    row: new RecordRow(request.columns),
    added: [],
    conditions: [],
    doubts: [],
    steps: [],
    topicName: (topic) => topic,
  };
  const registry = sink.encoding(draft);
  applyTransforms(draft);
  const plan = sink.plan(options, draft);
  const client = sink.client(options, request.brokers);
  const failures = sink.failures(options);
  options.settle([
    { name: 'tasks.max', fate: 'needless', text: 'ingest.workers are threads of a process, and replicas share partitions' },
    { name: 'transforms', fate: 'needless', text: 'see below' },
    { name: 'predicates*', fate: 'needless', text: 'of transforms' },
  ]);
  return migratedPipeline({ options, draft, plan, client, failures, registry, offsets: request.offsets });
}

function unknownConnector(className: string): ServiceError {
  const unknown = (message: string, hint: string): ServiceError => serviceError.invalid('CONFIG_CONNECTOR_UNKNOWN', message, { hint });
  if (/Source(?:Connector)?$|^io\.debezium\.connector\.(?!jdbc)/.test(className))
    return unknown(
      `connector.class ${className} is a source: it writes topics, and a pipeline reads them`,
      'leave the source as it is, and give the configuration of the sink that reads its topics',
    );
  const known = Object.keys(sinks);
  const nearest = nearestName(className, known);
  return unknown(
    `connector.class ${className} is no sink that is known`,
    nearest === undefined ? `known: ${known.join(', ')}; for a topic alone: tidewater init <topic>` : `did you mean ${nearest}?`,
  );
}
