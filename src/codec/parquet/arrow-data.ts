import * as arrow from 'apache-arrow';
import { assertNever } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { Column, ColumnBatch } from '../../schema/columns.ts';
import { toArrowType } from './arrow-schema.ts';
import { fixedBytes } from './fixed-bytes.ts';

interface ArrowParts {
  readonly type: arrow.DataType;
  readonly length: number;
  readonly nullCount: number;
  readonly nullBitmap?: Uint8Array;
  readonly data?: ArrayBufferView;
  readonly valueOffsets?: Int32Array;
  readonly child?: arrow.Data;
  readonly children?: readonly arrow.Data[];
}

// The library types this by one overload per Arrow type; which parts belong to which type is settled by the layout below.
const makeData = arrow.makeData as unknown as (parts: ArrowParts) => arrow.Data;

/** The batch as Arrow data over the same buffers; nothing is copied. */
export function toArrowBatch(batch: ColumnBatch, schema: arrow.Schema): arrow.RecordBatch {
  const children = batch.columns.map((column, index) => {
    const field = batch.schema.fields[index];
    if (field?.nullable === false && column.nullCount > 0) throw nullInRequired(field.name, column.nullCount);
    return toArrowData(column, schema.fields[index]?.type as arrow.DataType | undefined);
  });
  const type = new arrow.Struct(schema.fields);
  const data = makeData({ type, length: batch.rowCount, nullCount: 0, children });
  return new arrow.RecordBatch(schema, data as unknown as ConstructorParameters<typeof arrow.RecordBatch>[1]);
}

/** One column as Arrow data over the same buffers. */
export function toArrowData(column: Column, type: arrow.DataType = toArrowType(column.type)): arrow.Data {
  const { length, nullCount, validity: nullBitmap } = column;
  const base = { length, nullCount, ...(nullBitmap === undefined ? {} : { nullBitmap }) };
  switch (column.layout) {
    case 'fixed':
      return makeData({ ...base, type, data: column.values });
    case 'boolean':
      return makeData({ ...base, type, data: column.bits });
    case 'decimal': {
      const { buffer, byteOffset, byteLength } = column.words;
      return makeData({ ...base, type, data: new Uint32Array(buffer, byteOffset, byteLength / 4) });
    }
    case 'bytes':
      if (arrow.DataType.isFixedSizeBinary(type)) return makeData({ ...base, type, data: fixedBytes(column, type.byteWidth) });
      return makeData({ ...base, type, valueOffsets: column.offsets, data: column.data });
    case 'struct':
      return makeData({
        ...base,
        type,
        children: column.children.map((child, index) => toArrowData(child, childType(type, index))),
      });
    case 'list':
      return makeData({
        ...base,
        type,
        valueOffsets: column.offsets,
        child: toArrowData(column.element, childType(type, 0)),
      });
    case 'map': {
      const entries = childType(type, 0);
      const children = [toArrowData(column.keys, childType(entries, 0)), toArrowData(column.values, childType(entries, 1))];
      const child = makeData({ type: entries, length: column.keys.length, nullCount: 0, children });
      return makeData({ ...base, type, valueOffsets: column.offsets, child });
    }
    default:
      return assertNever(column);
  }
}

function childType(type: arrow.DataType, index: number): arrow.DataType {
  return (type.children[index] as arrow.Field).type as arrow.DataType;
}

function nullInRequired(name: string, nullCount: number): ServiceError {
  return serviceError.invalid('PARQUET_NULL_IN_REQUIRED_COLUMN', `column "${name}" is required but ${nullCount} of its values are null`);
}
