import { present } from '../../base/assert.ts';
import type { EpochMs } from '../../base/clock.ts';
import { buildBatch, type InputRow } from '../../codec/build-columns.ts';
import type { EncodedRecordBatch, KafkaAdmin, OutgoingRecord } from '../../kafka/client.ts';
import { encodeRecordBatch } from '../../kafka/records/record-batch.ts';
import { memberOf } from '../encoding/column-writers.ts';
import { type Encoded, framingBy, schemaToRegister, valueEncoding } from '../encoding/encodings.ts';
import type { StructShape } from '../encoding/event-type.ts';
import { RecordBuffer } from '../encoding/record-buffer.ts';
import type { SchemaNumbers } from '../encoding/schema-numbers.ts';
import type { FeedSpec } from '../feed-spec.ts';
import { findTopic } from '../feed-topics.ts';
import { columnsOf } from './record-shape.ts';

/** What the records of a topic consist of. */
export interface MetadataShape {
  readonly key: StructShape;
  readonly value: StructShape;
}

export interface MetadataRecord {
  readonly key: InputRow;
  readonly value: InputRow;
  readonly timestampMs: EpochMs;
}

interface MetadataTopicParts {
  readonly topic: string;
  readonly shape: MetadataShape;
  readonly spec: Encoded & Pick<FeedSpec, 'replicationFactor' | 'compression'>;
  /** `undefined`: there is no registry, and the encoding needs none. */
  readonly numbers: SchemaNumbers | undefined;
}

/** A topic of records about a feed's table, told in the encoding of the feed. It has one partition, so that they have one order. */
export class MetadataTopic {
  readonly topic: string;
  readonly #parts: MetadataTopicParts;

  constructor(parts: MetadataTopicParts) {
    this.topic = parts.topic;
    this.#parts = parts;
  }

  /** Makes the topic where it is missing; answers what tells this incarnation of it from others. */
  async ensure(admin: KafkaAdmin): Promise<string> {
    const { topic } = this;
    const { replicationFactor } = this.#parts.spec;
    // Records carry the commit's time, as those of the feed's topic do.
    const config = { 'message.timestamp.type': 'LogAppendTime' };
    await admin.ensureTopics([{ topic, partitions: 1, replicationFactor, config }]);
    return (await findTopic(admin, topic))?.topicId ?? topic;
  }

  /**
   * The same records give the same bytes.
   *
   * @throws ServiceError as `SchemaNumbers.numberOf`.
   */
  async encode(records: readonly MetadataRecord[], signal?: AbortSignal): Promise<EncodedRecordBatch> {
    const keys = await this.#encodePart(
      'key',
      records.map(({ key }) => key),
      signal,
    );
    const values = await this.#encodePart(
      'value',
      records.map(({ value }) => value),
      signal,
    );
    const outgoing = records.map(({ timestampMs }, index): OutgoingRecord => ({ key: keys[index], value: values[index], timestampMs }));
    return encodeRecordBatch({ topic: this.topic, partition: 0, records: outgoing, compression: this.#parts.spec.compression });
  }

  async #encodePart(part: 'key' | 'value', rows: readonly InputRow[], signal: AbortSignal | undefined): Promise<readonly Uint8Array[]> {
    const { spec, shape } = this.#parts;
    const encoding = valueEncoding(spec, part);
    const framing = framingBy(spec, part, { id: await this.#numberOf(part, signal), schema: () => shape[part] });
    const { columns } = buildBatch(columnsOf(shape[part]), rows);
    const members = shape[part].fields.map((field, index) => memberOf(field, present(columns[index], 'each field has a column'), encoding));
    const write = encoding.notation.members(members);
    return rows.map((_, index) => {
      const out = new RecordBuffer();
      out.chunk(framing.before);
      write(out, index);
      out.chunk(encoding.notation.end);
      out.chunk(framing.behind);
      return out.copy();
    });
  }

  async #numberOf(part: 'key' | 'value', signal: AbortSignal | undefined): Promise<number | undefined> {
    const { topic, spec, shape, numbers } = this.#parts;
    const schema = schemaToRegister(spec, part, () => shape[part]);
    if (schema === undefined) return undefined;
    return present(numbers, 'encodings with schemas have a registry').numberOf({ topic, part, schema, records: spec.records }, signal);
  }
}
