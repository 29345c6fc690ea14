import avsc from 'avsc';
import { type JsonValue, parseJson, printJson } from '../../../base/bigint-json.ts';
import { serviceError } from '../../../base/errors.ts';
import { type AvroType, parseAvroType } from '../../../codec/avro/avro-type.ts';

/** The name of a primitive type without its quotes. */
const isBareName = /^[a-z]+$/;

/** A schema of the configuration. */
export interface GivenSchema {
  readonly type: AvroType;
  /** CRC-64-AVRO of its canonical form, little-endian, as single-object encoding has it. */
  readonly fingerprint: Uint8Array;
}

/** Longs of 64 bits, which numbers do not hold: defaults may be any of them. avsc writes none. */
const longs = avsc.types.LongType.__with(
  {
    fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
    toBuffer: (value: bigint | number) => {
      const bytes = Buffer.alloc(8);
      bytes.writeBigInt64LE(BigInt(value));
      return bytes;
    },
    fromJSON: (value: unknown) => value,
    toJSON: (value: unknown) => value,
    isValid: (value: unknown) => (typeof value === 'bigint' ? BigInt.asIntN(64, value) === value : Number.isSafeInteger(value)),
    compare: (a: bigint | number, b: bigint | number) => (a < b ? -1 : Number(a > b)),
  },
  true,
);

/**
 * Reads a schema that a route names. avsc checks it: names, defaults and ambiguous unions too, which payloads would not show.
 *
 * @throws ServiceError `AVRO_SCHEMA_INVALID` (kind invalid), `AVRO_UNSUPPORTED` for types that contain themselves.
 */
export function readGivenSchema(text: string): GivenSchema {
  let json: JsonValue;
  let canonical: string;
  try {
    json = isBareName.test(text) ? text : parseJson(text, 'the schema');
    const read = avsc.Type.forSchema(json as unknown as avsc.Schema, { wrapUnions: true, registry: { long: longs } });
    canonical = printJson(read.schema() as unknown as JsonValue);
  } catch (cause) {
    throw serviceError.invalid(
      'AVRO_SCHEMA_INVALID',
      `the Avro schema of a route cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`,
      { hint: 'give a schema as JSON (https://avro.apache.org/docs/1.12.0/specification/)', cause },
    );
  }
  return { type: parseAvroType(json, 'the schema'), fingerprint: crc64(Buffer.from(canonical)) };
}

const empty = 0xc15d_213a_a4d7_a795n;

/** Rabin fingerprint (Avro specification, Schema Fingerprints). */
function crc64(bytes: Uint8Array): Uint8Array {
  let crc = empty;
  for (const byte of bytes) crc = (crc >> 8n) ^ tableEntry((crc ^ BigInt(byte)) & 0xffn);
  const fingerprint = Buffer.alloc(8);
  fingerprint.writeBigUInt64LE(crc);
  return fingerprint;
}

function tableEntry(index: bigint): bigint {
  let entry = index;
  for (let bit = 0; bit < 8; bit += 1) entry = (entry >> 1n) ^ ((entry & 1n) === 1n ? empty : 0n);
  return entry;
}
