import type { InputRow } from '../../codec/build-columns.ts';
import type { KafkaAdmin } from '../../kafka/client.ts';
import { splitName, transactionIdOf } from '../envelope.ts';
import type { MetadataRecord, MetadataShape, MetadataTopic } from './metadata-topic.ts';
import { listOf, optional, required, shape } from './record-shape.ts';
import type { ToldBeside, VersionRecords, VersionStep } from './version-records.ts';

const collection = shape('event.collection', [required('data_collection', 'string'), required('event_count', 'int64')]);

/** As Debezium's `provide.transaction.metadata` has them, by its names. */
export const transactionShape: MetadataShape = {
  key: shape('io.debezium.connector.common.TransactionMetadataKey', [required('id', 'string')]),
  value: shape('io.debezium.connector.common.TransactionMetadataValue', [
    required('status', 'string'),
    required('id', 'string'),
    optional('event_count', 'int64'),
    optional('data_collections', listOf(collection)),
    required('ts_ms', 'int64'),
  ]),
};

/**
 * BEGIN with the first event of a version, END with the last, with their number. Versions without events, and snapshots, have neither. Of a version of
 * which a part was published without marks the rest is a transaction of its own.
 */
export class TransactionMarks implements VersionRecords {
  readonly #table: string;
  readonly #topic: MetadataTopic;

  constructor(table: string, topic: MetadataTopic) {
    this.#table = table;
    this.#topic = topic;
  }

  async open(admin: KafkaAdmin): Promise<void> {
    await this.#topic.ensure(admin);
  }

  async of({ from, until, changes, snapshot, events }: VersionStep, signal?: AbortSignal): Promise<ToldBeside | undefined> {
    if (snapshot) return undefined;
    const before = from.complete ? 0 : (from.events ?? 0);
    const total = before + events;
    const { database, table } = splitName(this.#table);
    const mark = (status: 'BEGIN' | 'END', counts: InputRow): MetadataRecord => {
      const id = transactionIdOf(this.#table, changes.version);
      return { key: { id }, value: { status, id, ts_ms: changes.committedAt, ...counts }, timestampMs: changes.committedAt };
    };
    const counted = { event_count: total, data_collections: [{ data_collection: `${database}.${table}`, event_count: total }] };
    const marks = [
      ...(before === 0 && total > 0 ? [mark('BEGIN', {})] : []),
      ...(until.complete && total > 0 ? [mark('END', counted)] : []),
    ];
    const batches = marks.length === 0 ? [] : [await this.#topic.encode(marks, signal)];
    return { batches, position: { events: until.complete || total === 0 ? undefined : total } };
  }
}
