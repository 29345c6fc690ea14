import type { RecordPart } from './avro/schema-reference.ts';
import { referenceInPrefix } from './avro/schema-reference.ts';
import type { PayloadDecoder } from './payload-decoder.ts';
import type { Refusal } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';

/** A payload behind the prefix of a registry's serializer, whose schema is not needed to read it. */
export class FramedPayload implements PayloadDecoder {
  readonly #inner: PayloadDecoder;
  readonly #part: RecordPart;

  constructor(inner: PayloadDecoder, part: RecordPart) {
    this.#inner = inner;
    this.#part = part;
  }

  decode(record: SourceRecord, start: number, end: number): Refusal | undefined {
    const reference = referenceInPrefix(record, start, end);
    if (typeof reference === 'string') return { reason: 'invalid-json', message: `the ${this.#part} ${reference}` };
    return this.#inner.decode(record, reference.from, end);
  }
}
