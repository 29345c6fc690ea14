import { RecordDecoder, type RecordDecoderOptions } from '../../../../src/ingest/decode/record-decoder.ts';
import { type Refusal } from '../../../../src/ingest/decode/rejection.ts';
import type { SourceRecord } from '../../../../src/ingest/decode/source-record.ts';
import type { ColumnSource, DecodeSpec } from '../../../../src/protocol/sealed-batch.ts';
import { type Column, type ColumnBatch, isValid } from '../../../../src/schema/columns.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';

export type Value = null | boolean | number | bigint | string | readonly Value[] | { readonly [name: string]: Value };

export function struct(fields: Readonly<Record<string, DataType>>, options: { readonly required?: readonly string[] } = {}): StructType {
  return {
    kind: 'struct',
    fields: Object.entries(fields).map(([name, type]) => field(name, type, options.required?.includes(name) !== true)),
  };
}

export function field(name: string, type: DataType, nullable = true): Field {
  return { name, type, nullable };
}

export interface DecodingOptions extends RecordDecoderOptions {
  readonly unknownMembers?: DecodeSpec['unknownMembers'] | undefined;
  readonly sources?: readonly ColumnSource[] | undefined;
}

export function decoderOf(schema: StructType, options: DecodingOptions = {}): RecordDecoder {
  const sources = options.sources ?? schema.fields.map(({ name }) => ({ kind: 'value', name }) as const);
  return new RecordDecoder(schema, { sources, unknownMembers: options.unknownMembers ?? 'ignore' }, options);
}

/** A record around a payload, with foreign bytes on both sides of it. */
export function recordOf(payload: string | Uint8Array | undefined, rest: Partial<SourceRecord> = {}): SourceRecord {
  const value = typeof payload === 'string' ? Buffer.from(payload) : (payload ?? new Uint8Array(0));
  const data = new Uint8Array(Buffer.concat([Buffer.from('9"{'), value, Buffer.from('9"}')]));
  const at = payload === undefined ? { valueStart: -1, valueEnd: -1 } : { valueStart: 3, valueEnd: 3 + value.length };
  return { data, ...at, keyStart: -1, keyEnd: -1, timestampMs: -1, offset: () => 0n, headers: () => [], ...rest };
}

export type Decoded = { readonly rows: readonly Value[]; readonly rejection: Refusal | undefined };

export function decode(schema: StructType, payload: string | Uint8Array, options: DecodingOptions = {}): Decoded {
  const decoder = decoderOf(schema, options);
  const rejection = decoder.decode(recordOf(payload));
  return { rows: rowsOf(decoder.finish()), rejection };
}

/** What column `v` of the type makes of a JSON value: the value, or the reason it was refused. */
export function decodeValue(type: DataType, json: string): Value {
  const { rows, rejection } = decode(struct({ v: type }), `{"v":${json}}`);
  if (rejection !== undefined) return { rejected: rejection.reason ?? rejection.noRow };
  const row = rows[0];
  return typeof row === 'object' && row !== null ? (Object.values(row)[0] ?? null) : null;
}

export function rowsOf(batch: ColumnBatch): readonly Value[] {
  return Array.from({ length: batch.rowCount }, (_, row) => structAt(batch.schema, batch.columns, row));
}

function structAt(type: StructType, columns: readonly Column[], row: number): Value {
  const entries = type.fields.map(({ name }, i): [string, Value] => {
    const column = columns[i];
    return [name, column === undefined ? 'no column' : valueAt(column, row)];
  });
  return Object.fromEntries(entries);
}

/** Value `row` as plain data: long and timestamps as bigint micros, decimals unscaled, binary as `hex:...`. */
export function valueAt(column: Column, row: number): Value {
  if (!isValid(column, row)) return null;
  switch (column.layout) {
    case 'fixed':
      return column.values[row] ?? 'missing';
    case 'boolean':
      return ((column.bits[row >> 3] ?? 0) & (1 << (row & 7))) !== 0;
    case 'decimal':
      return ((column.words[row * 2 + 1] ?? 0n) << 64n) | BigInt.asUintN(64, column.words[row * 2] ?? 0n);
    case 'bytes': {
      const bytes = Buffer.from(column.data.subarray(column.offsets[row], column.offsets[row + 1]));
      return column.type.kind === 'binary'
        ? `hex:${bytes.toString('hex')}`
        : new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    }
    case 'struct':
      return column.type.kind === 'struct' ? structAt(column.type, column.children, row) : 'not a struct type';
    case 'list':
      return range(column.offsets, row).map((i) => valueAt(column.element, i));
    case 'map':
      return range(column.offsets, row).map((i) => [valueAt(column.keys, i), valueAt(column.values, i)]);
  }
}

function range(offsets: Int32Array, row: number): readonly number[] {
  const from = offsets[row] ?? 0;
  return Array.from({ length: (offsets[row + 1] ?? 0) - from }, (_, i) => from + i);
}
