import type { YamlScalar } from '../pipeline-yaml.ts';
import type { ConnectorOptions } from './connector-options.ts';
import type { RecordRow } from './record-row.ts';
import type { PlannedColumn, PlannedCondition } from './sink-plan.ts';

/** What converters and transforms make of the sink's records, for all its tables. */
export interface RecordDraft {
  readonly options: ConnectorOptions;
  /** Of the route's `value`. */
  readonly value: Map<string, { readonly setting: YamlScalar; readonly note: string }>;
  /** Columns of the records, where whoever asks has named them. */
  readonly given: readonly PlannedColumn[] | undefined;
  row: RecordRow;
  /** Columns of the table that are filled from the record itself. */
  readonly added: PlannedColumn[];
  readonly conditions: PlannedCondition[];
  /** Why rows would be others than the sink's. */
  readonly doubts: string[];
  /** What each transform became, in their order. */
  readonly steps: string[];
  /** Names of topics as transforms have changed them. */
  topicName: (topic: string) => string;
}

export const headersColumn: PlannedColumn = {
  name: 'kafka_headers',
  type: { kind: 'map', key: { kind: 'string' }, value: { kind: 'binary' }, valueNullable: true },
  from: 'headers',
};
export const topicColumn: PlannedColumn = { name: 'kafka_topic', type: { kind: 'string' }, from: 'topic' };

/** The types of what records are, beside their payload. */
export const metadataTypes = {
  topic: { kind: 'string' },
  partition: { kind: 'integer' },
  offset: { kind: 'long' },
  timestamp: { kind: 'timestamp' },
} as const;
