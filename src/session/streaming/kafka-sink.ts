import { AnalysisException } from '../../base/analysis-exception.ts';
import { type EpochMs, toEpochMs } from '../../base/clock.ts';
import type { Engine } from '../../engine/engine.ts';
import type { EncodedRecordBatch, KafkaClient, TransactionalProducer } from '../../kafka/client.ts';
import { partitionOfKey } from '../../kafka/murmur2.ts';
import { encodeRecordBatch } from '../../kafka/records/record-batch.ts';
import { type BytesColumn, type Column, type ColumnBatch, isValid } from '../../schema/columns.ts';
import type { StructType } from '../../schema/types.ts';
import type { SinkBatch, StreamSink } from './stream-sink.ts';

export interface KafkaSinkParts {
  readonly client: KafkaClient;
  readonly engine: Engine;
  /** Where rows go that have no `topic` column. */
  readonly topic: string | undefined;
  readonly now: () => EpochMs;
}

/** Bytes of one record batch before it is closed. */
const maxBatchBytes = 512 * 1024;

/**
 * Produces the rows of each batch in one Kafka transaction: columns `value` and, if there, `key` (string or binary), `topic`, `partition`.
 * A batch that was in doubt when the query ended is produced again: at least once for it, exactly once for all others. The change feed of a
 * pipeline (`tidewater serve`) stores its position in the transaction and has no such case.
 */
export class KafkaSink implements StreamSink {
  readonly description: string;
  readonly #parts: KafkaSinkParts;
  readonly #partitions = new Map<string, number>();
  #producer: TransactionalProducer | undefined;
  #nextPartition = 0;

  constructor(parts: KafkaSinkParts) {
    this.#parts = parts;
    this.description = `KafkaSink[${parts.topic ?? 'topic column'}]`;
  }

  async add(batch: SinkBatch, signal: AbortSignal): Promise<number> {
    const columns = sinkColumns(batch.rows.schema, this.#parts.topic);
    const packed = new Map<string, Pending>();
    const closed: EncodedRecordBatch[] = [];
    let rows = 0;
    for await (const read of this.#parts.engine.read(batch.rows, signal)) {
      for (let row = 0; row < read.rowCount; row += 1) await this.#pack(read, row, columns, packed, closed);
      rows += read.rowCount;
    }
    for (const pending of packed.values()) closed.push(encoded(pending));
    if (closed.length > 0) await this.#publish(batch.queryId, closed);
    return rows;
  }

  async close(): Promise<void> {
    await this.#producer?.close();
    await this.#parts.client.close();
  }

  async #pack(
    batch: ColumnBatch,
    row: number,
    columns: SinkColumns,
    packed: Map<string, Pending>,
    closed: EncodedRecordBatch[],
  ): Promise<void> {
    const topic = textOf(batch.columns[columns.topic ?? -1], row) ?? this.#parts.topic ?? refuse('a row has no topic');
    const key = bytesOf(batch.columns[columns.key ?? -1], row);
    const partition = intOf(batch.columns[columns.partition ?? -1], row) ?? (await this.#partitionOf(topic, key));
    const value = bytesOf(batch.columns[columns.value], row);
    const place = `${topic}/${partition}`;
    const pending = packed.get(place) ?? { topic, partition, records: [], bytes: 0 };
    pending.records.push({ key, value, timestampMs: this.#parts.now() });
    pending.bytes += (key?.length ?? 0) + (value?.length ?? 0) + 16;
    if (pending.bytes < maxBatchBytes) packed.set(place, pending);
    else {
      closed.push(encoded(pending));
      packed.delete(place);
    }
  }

  /** By key as Kafka's own producers do; rows without a key go round. */
  async #partitionOf(topic: string, key: Uint8Array | undefined): Promise<number> {
    const known = this.#partitions.get(topic);
    const count = known ?? (await this.#parts.client.admin.offsets(topic)).length;
    if (known === undefined) this.#partitions.set(topic, count);
    if (key !== undefined) return partitionOfKey(key, key.length, count);
    this.#nextPartition += 1;
    return this.#nextPartition % count;
  }

  async #publish(queryId: string, batches: readonly EncodedRecordBatch[]): Promise<void> {
    this.#producer ??= await this.#parts.client.openTransactional({ transactionalId: `tidewater-stream-${queryId}` });
    try {
      await this.#producer.publish(batches);
    } catch (error) {
      // A producer that failed once is dead; the batch is run again with a fresh one.
      await this.#producer.close().catch(() => undefined);
      this.#producer = undefined;
      throw error;
    }
  }
}

interface Pending {
  readonly topic: string;
  readonly partition: number;
  readonly records: { key: Uint8Array | undefined; value: Uint8Array | undefined; timestampMs: EpochMs }[];
  bytes: number;
}

interface SinkColumns {
  readonly value: number;
  readonly key: number | undefined;
  readonly topic: number | undefined;
  readonly partition: number | undefined;
}

function encoded(pending: Pending): EncodedRecordBatch {
  const records = pending.records.map((record) => ({ ...record, timestampMs: toEpochMs(record.timestampMs) }));
  return encodeRecordBatch({ topic: pending.topic, partition: pending.partition, records, compression: 'gzip' });
}

/** Which columns the sink takes. @throws AnalysisException when there is no `value`, no topic, or a type does not fit. */
export function sinkColumns(schema: StructType, topic: string | undefined): SinkColumns {
  const find = (name: string, kinds: readonly string[]): number | undefined => {
    const at = schema.fields.findIndex((field) => field.name.toLowerCase() === name);
    const field = schema.fields[at];
    if (field === undefined) return undefined;
    if (!kinds.includes(field.type.kind))
      refuse(`column "${field.name}" is ${field.type.kind}, the Kafka sink takes ${kinds.join(' or ')}`);
    return at;
  };
  const columns = {
    value: find('value', ['string', 'binary']) ?? refuse('the rows have no column "value"'),
    key: find('key', ['string', 'binary']),
    topic: find('topic', ['string']),
    partition: find('partition', ['integer']),
  };
  if (columns.topic === undefined && topic === undefined) refuse('there is neither an option "topic" nor a column "topic"');
  return columns;
}

function refuse(what: string): never {
  throw new AnalysisException({
    errorClass: 'KAFKA_SINK_SCHEMA_INVALID',
    message: what,
    hint: "select key, value (for example to_json(struct(*)) as value) and set the option 'topic'",
  });
}

function bytesOf(column: Column | undefined, row: number): Uint8Array | undefined {
  if (column === undefined || !isBytes(column) || !isValid(column, row)) return undefined;
  return column.data.slice(column.offsets[row], column.offsets[row + 1]);
}

function textOf(column: Column | undefined, row: number): string | undefined {
  const bytes = bytesOf(column, row);
  return bytes === undefined ? undefined : new TextDecoder().decode(bytes);
}

function intOf(column: Column | undefined, row: number): number | undefined {
  if (column?.layout !== 'fixed' || !isValid(column, row)) return undefined;
  return Number(column.values[row]);
}

function isBytes(column: Column): column is BytesColumn {
  return column.layout === 'bytes';
}
