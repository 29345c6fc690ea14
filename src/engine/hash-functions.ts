import type { DuckDBConnection } from '@duckdb/node-api';
import { partitionHashes } from '../expr/sql/text-functions.ts';
import type { BytesColumn, Column, FixedColumn } from '../schema/columns.ts';
import type { DataType } from '../schema/types.ts';
import { murmur3, murmur3OfLong } from '../table/partitioning/murmur3.ts';
import { unscaledBytes } from '../table/partitioning/unscaled-bytes.ts';
import { registerColumnFunction } from './column-function.ts';
import type { DuckdbModules } from './duckdb-modules.ts';

const functions: readonly (readonly [name: string, type: DataType, hashes: (column: Column) => Int32Array])[] = [
  [partitionHashes.long, { kind: 'long' }, longHashes],
  [partitionHashes.text, { kind: 'string' }, bytesHashes],
  [partitionHashes.bytes, { kind: 'binary' }, bytesHashes],
  [partitionHashes.decimal, { kind: 'string' }, decimalHashes],
];

const gives: DataType = { kind: 'integer' };

/** Makes `partitionHashes` known to all connections of the instance. */
export function registerHashFunctions(modules: DuckdbModules, connection: DuckDBConnection): void {
  for (const [name, type, hashes] of functions)
    registerColumnFunction(modules, connection, { name, takes: [type], gives, of: ([column]) => hashesOf(column as Column, hashes) });
}

function hashesOf(column: Column, hashes: (column: Column) => Int32Array): Column {
  const { length, nullCount, validity } = column;
  return { type: gives, length, nullCount, validity, layout: 'fixed', values: hashes(column) };
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
