import { assertNever } from '../base/assert.ts';
import type { Clock } from '../base/clock.ts';
import { toEpochMs } from '../base/clock.ts';
import { ServiceError } from '../base/errors.ts';
import type { EncodedRecordBatch, KafkaProducer, OutgoingRecord } from '../kafka/client.ts';
import { encodeRecordBatch } from '../kafka/records/record-batch.ts';
import type { DeadLetterSink, RejectAccounting } from '../protocol/dead-letters.ts';
import type { RejectedRecord } from '../protocol/sealed-batch.ts';
import type { RejectPolicy } from './settings.ts';

export interface DeadLetterOptions {
  readonly policy: RejectPolicy;
  readonly topic: string;
  readonly partitions: number;
  readonly pipeline: string;
  readonly producer: () => Promise<KafkaProducer>;
  readonly clock: Clock;
}

const utf8 = new TextEncoder();
const maxBatchBytes = 512 * 1024;

/**
 * Writes rejected records, unchanged in key, value, headers and timestamp, with Kafka Connect's `__connect.errors.*` headers
 * (Connect: DeadLetterQueueReporter) and our own reason beside them.
 */
export class DeadLetterTopic implements DeadLetterSink {
  readonly #options: DeadLetterOptions;

  constructor(options: DeadLetterOptions) {
    this.#options = options;
  }

  async write(table: string, rejects: readonly RejectedRecord[]): Promise<RejectAccounting> {
    const [first] = rejects;
    if (first === undefined) return { deadLettered: 0, filtered: 0 };
    switch (this.#options.policy) {
      case 'skip':
        return { deadLettered: 0, filtered: rejects.length };
      case 'suspend':
        throw suspended(table, first);
      case 'dead-letter': {
        const producer = await this.#options.producer();
        for (const batches of this.#batches(table, rejects)) await producer.send(batches);
        return { deadLettered: rejects.length, filtered: 0 };
      }
      default:
        return assertNever(this.#options.policy);
    }
  }

  /** Runs of batches, each small enough for a broker's default record batch limit. */
  *#batches(table: string, rejects: readonly RejectedRecord[]): Generator<readonly EncodedRecordBatch[]> {
    let records: OutgoingRecord[] = [];
    let bytes = 0;
    let partition = 0;
    for (const reject of rejects) {
      const size = (reject.value?.byteLength ?? 0) + (reject.key?.byteLength ?? 0) + 1024;
      const target = reject.partition % this.#options.partitions;
      if (records.length > 0 && (bytes + size > maxBatchBytes || target !== partition)) {
        yield [encodeRecordBatch({ topic: this.#options.topic, partition, records })];
        records = [];
        bytes = 0;
      }
      partition = target;
      records.push(this.#recordOf(table, reject));
      bytes += size;
    }
    if (records.length > 0) yield [encodeRecordBatch({ topic: this.#options.topic, partition, records })];
  }

  #recordOf(table: string, reject: RejectedRecord): OutgoingRecord {
    const context: readonly (readonly [string, string])[] = [
      ['__connect.errors.topic', reject.topic],
      ['__connect.errors.partition', String(reject.partition)],
      ['__connect.errors.offset', String(reject.offset)],
      ['__connect.errors.connector.name', this.#options.pipeline],
      ['__connect.errors.task.id', table],
      ['__connect.errors.stage', 'VALUE_CONVERTER'],
      ['__connect.errors.class.name', 'tidewater.ingest.decode'],
      ['__connect.errors.exception.class.name', reject.reason],
      ['__connect.errors.exception.message', reject.message],
      ['tidewater.dlq.reason', reject.reason],
      ['tidewater.dlq.table', table],
      ['tidewater.dlq.rejected_at', new Date(this.#options.clock.now()).toISOString()],
    ];
    const present = new Set(reject.headers.map(([name]) => name));
    // A header the record already carries is never overwritten: a dead letter may have been one before.
    const added = context.filter(([name]) => !present.has(name)).map(([name, value]) => [name, utf8.encode(value)] as const);
    return {
      key: reject.key,
      value: reject.value,
      timestampMs: toEpochMs(reject.timestampMs),
      headers: [...reject.headers, ...added],
    };
  }
}

function suspended(table: string, reject: RejectedRecord): ServiceError {
  return new ServiceError({
    code: 'INGEST_SUSPENDED',
    kind: 'invalid',
    message: `table "${table}": topic "${reject.topic}" partition ${reject.partition} offset ${reject.offset}: ${reject.message}`,
    hint: 'correct the table definition, or set ingest.deadLetters.onReject to dead-letter or skip; reading stands at this record',
    context: { table, topic: reject.topic, partition: reject.partition, offset: reject.offset, reason: reject.reason },
  });
}
