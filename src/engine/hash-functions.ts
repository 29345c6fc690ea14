import type { DuckDBConnection } from '@duckdb/node-api';
import type { BytesColumn, Column, FixedColumn } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import { murmur3, murmur3OfLong } from '../table/partitioning/murmur3.ts';
import { unscaledBytes } from '../table/partitioning/unscaled-bytes.ts';
import type { DuckdbModules, RawVector } from './duckdb-modules.ts';
import { readVector } from './rows/read-vector.ts';
import { writeVector } from './rows/write-vector.ts';

/** Functions of the engine, beside its own, that give the 32-bit Murmur3 of a value as INTEGER; NULL for NULL. */
export const hashFunctions = {
  /** BIGINT, as eight bytes. */
  long: 'tidewater_murmur3_long',
  /** VARCHAR, its UTF-8 bytes. */
  text: 'tidewater_murmur3_text',
  /** BLOB. */
  bytes: 'tidewater_murmur3_bytes',
  /** VARCHAR of an unscaled decimal, as the fewest bytes of its two's complement, the highest first. */
  decimal: 'tidewater_murmur3_decimal',
} as const;

/** Makes `hashFunctions` known to all connections of the instance. Their work is done on the thread that started the engine. */
export function registerHashFunctions(modules: DuckdbModules, connection: DuckDBConnection): void {
  const { api } = modules;
  register(modules, connection, { name: hashFunctions.long, parameter: api.BIGINT, type: { kind: 'long' }, hash: longHashes });
  register(modules, connection, { name: hashFunctions.text, parameter: api.VARCHAR, type: { kind: 'string' }, hash: bytesHashes });
  register(modules, connection, { name: hashFunctions.bytes, parameter: api.BLOB, type: { kind: 'binary' }, hash: bytesHashes });
  register(modules, connection, { name: hashFunctions.decimal, parameter: api.VARCHAR, type: { kind: 'string' }, hash: decimalHashes });
}

interface HashFunction {
  readonly name: string;
  readonly parameter: DuckdbModules['api']['BIGINT'] | DuckdbModules['api']['VARCHAR'] | DuckdbModules['api']['BLOB'];
  readonly type: DataType;
  readonly hash: (column: Column) => Int32Array;
}

function register({ api, bindings }: DuckdbModules, connection: DuckDBConnection, of: HashFunction): void {
  const made = api.DuckDBScalarFunction.create({
    name: of.name,
    returnType: api.INTEGER,
    parameterTypes: [of.parameter],
    mainFunction: (_, input, output) => {
      const column = readVector(bindings, bindings.data_chunk_get_vector(input.chunk, 0), of.type, input.rowCount);
      const { length, nullCount, validity } = column;
      const hashes: Column = { type: { kind: 'integer' }, length, nullCount, validity, layout: 'fixed', values: of.hash(column) };
      // The declaration keeps the vector to itself.
      const target = (output as unknown as { readonly vector: RawVector }).vector;
      writeVector(bindings, target, hashes);
    },
  });
  connection.registerScalarFunction(made);
}

function longHashes(column: Column): Int32Array {
  const { values, length } = column as FixedColumn;
  const words = new Int32Array(values.buffer, values.byteOffset, length * 2);
  return Int32Array.from({ length }, (_, row) => murmur3OfLong(words[2 * row] ?? 0, words[2 * row + 1] ?? 0));
}

function bytesHashes(column: Column): Int32Array {
  const { offsets, data, length } = column as BytesColumn;
  return Int32Array.from({ length }, (_, row) => murmur3(data, offsets[row] ?? 0, offsets[row + 1] ?? 0));
}

function decimalHashes(column: Column): Int32Array {
  const { offsets, data, length } = column as BytesColumn;
  const text = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  return Int32Array.from({ length }, (_, row) => {
    const digits = text.toString('latin1', offsets[row], offsets[row + 1]);
    return digits === '' ? 0 : hashOf(unscaledBytes(BigInt(digits)));
  });
}

function hashOf(bytes: Uint8Array): number {
  return murmur3(bytes, 0, bytes.length);
}
