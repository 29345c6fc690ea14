import { serviceError } from '../../base/errors.ts';
import { BytesBuilder } from '../../codec/columns/bytes-builder.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { PayloadDecoder, PayloadMember } from './payload-decoder.ts';
import { type Rejection, shown } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';
import { isUtf8 } from './utf8.ts';

/** A payload that is one value: text, or bytes as they are. */
export class WholePayload implements PayloadDecoder {
  readonly #label: string;
  readonly #text: boolean;
  readonly #column: BytesBuilder;

  /** @throws ServiceError `DECODE_SPEC_INVALID` (kind invalid) when the column is neither string nor binary. */
  constructor({ label, type, column }: PayloadMember, kind: 'string' | 'bytes') {
    if (!(column instanceof BytesBuilder) || (kind === 'bytes' && column.type.kind === 'string')) {
      throw serviceError.invalid(
        'DECODE_SPEC_INVALID',
        `column "${label}" of type ${describeType(type)} cannot hold payloads of format ${kind}`,
        { hint: kind === 'bytes' ? 'use a column of type binary' : 'use a column of type string or binary' },
      );
    }
    this.#label = label;
    this.#text = column.type.kind === 'string';
    this.#column = column;
  }

  decode({ data }: SourceRecord, start: number, end: number): Rejection | undefined {
    if (this.#text && !isUtf8(data, start, end))
      return { reason: 'invalid-utf8', message: `column "${this.#label}": ${shown(data, start, end)} is not valid UTF-8` };
    this.#column.append(data, start, end);
    return undefined;
  }
}
