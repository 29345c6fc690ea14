import { isServiceError } from '../../base/errors.ts';
import { decompress } from '../../codec/compression.ts';
import type { ValueEncoding } from '../../protocol/payload-encoding.ts';
import type { PayloadDecoder } from './payload-decoder.ts';
import { type Refusal, shown } from './rejection.ts';
import type { SourceRecord } from './source-record.ts';

/** What the payloads of one record batch may still unpack to, all together: few bytes of each ask for any amount of memory. */
export interface UnpackBudget {
  readonly maxBytes: number;
  leftBytes: number;
}

const headerName = 'content-encoding';
type Codec = 'gzip' | 'zstd';

/** A payload that its producer has compressed, besides what Kafka does to batches. */
export class CompressedPayload implements PayloadDecoder {
  readonly #inner: PayloadDecoder;
  readonly #how: NonNullable<ValueEncoding['compression']>;
  readonly #budget: UnpackBudget;

  constructor(inner: PayloadDecoder, how: NonNullable<ValueEncoding['compression']>, budget: UnpackBudget) {
    this.#inner = inner;
    this.#how = how;
    this.#budget = budget;
  }

  decode(record: SourceRecord, start: number, end: number): Refusal | undefined {
    const codec = this.#how === 'header' ? codecOf(record) : this.#how;
    if (codec === undefined) return this.#inner.decode(record, start, end);
    if (codec !== 'gzip' && codec !== 'zstd')
      return { reason: 'corrupt-payload', message: `the header ${headerName} names ${codec}, not gzip or zstd` };
    const unpacked = this.#unpack(codec, record.data.subarray(start, end));
    if (!(unpacked instanceof Uint8Array)) return unpacked;
    const { keyStart, keyEnd, timestampMs } = record;
    const positions = { keyStart, keyEnd, timestampMs, valueStart: 0, valueEnd: unpacked.length };
    const inside = { ...positions, data: unpacked, offset: () => record.offset(), headers: () => record.headers() };
    return this.#inner.decode(inside, 0, unpacked.length);
  }

  #unpack(codec: Codec, bytes: Uint8Array): Uint8Array | Refusal {
    const budget = this.#budget;
    try {
      const unpacked = decompress(codec, bytes, { maxBytes: budget.leftBytes });
      budget.leftBytes -= unpacked.length;
      return unpacked;
    } catch (error) {
      if (!isServiceError(error, 'corrupt')) throw error;
      return error.code === 'CODEC_BLOCK_TOO_LARGE'
        ? {
            reason: 'too-large',
            message: `the value unpacks, with those before it in its batch, to more than ${budget.maxBytes} bytes (ingest.maxUnpackedBytes)`,
          }
        : { reason: 'corrupt-payload', message: `the value cannot be unpacked: ${error.message}` };
    }
  }
}

/** `undefined`: the header says of no compression. */
function codecOf(record: SourceRecord): string | undefined {
  const value = record.headers().find(([name]) => name.toLowerCase() === headerName)?.[1];
  if (value === undefined) return undefined;
  const codec = shown(value, 0, value.length).trim().toLowerCase();
  return codec === 'identity' || codec === '' ? undefined : codec;
}
