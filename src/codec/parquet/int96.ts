import * as arrow from 'apache-arrow';
import { int96Type, readFooter, withKeyValue } from './footer.ts';

/** Metadata key under which a file's Arrow schema is looked for. */
const arrowSchemaKey = 'ARROW:schema';

/**
 * Prepares a file whose timestamps are INT96, the type Spark writes by default, for reading. The library turns INT96 into nanoseconds,
 * which wrap outside of 1677 to 2262; told by an embedded Arrow schema that the column is in microseconds, it converts exactly.
 * Returns the file itself when it has no such column.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (kind corrupt) when the footer cannot be followed.
 */
export function withInt96AsMicros(file: Uint8Array, schema: arrow.Schema): Uint8Array {
  if (!schema.fields.some((field) => holdsNanos(field.type as arrow.DataType))) return file;
  const footer = readFooter(file);
  if (!footer.leafTypes.includes(int96Type)) return file;
  const leaves = footer.leafTypes[Symbol.iterator]();
  const fields = schema.fields.map((field) => hintField(field, leaves));
  return withKeyValue(file, footer, arrowSchemaKey, encodeSchema(new arrow.Schema(fields)));
}

function holdsNanos(type: arrow.DataType): boolean {
  if (arrow.DataType.isTimestamp(type)) return type.unit === arrow.TimeUnit.NANOSECOND;
  return childrenOf(type).some((child) => holdsNanos(child.type as arrow.DataType));
}

// Leaves of the Arrow schema are the leaves of the Parquet schema, in the same order.
function hintField(field: arrow.Field, leaves: Iterator<number>): arrow.Field {
  return new arrow.Field(field.name, hintType(field.type as arrow.DataType, leaves), field.nullable, field.metadata);
}

function hintType(type: arrow.DataType, leaves: Iterator<number>): arrow.DataType {
  if (arrow.DataType.isStruct(type)) return new arrow.Struct(childrenOf(type).map((child) => hintField(child, leaves)));
  const [child] = childrenOf(type);
  if (child !== undefined) {
    const hinted = hintField(child, leaves);
    if (arrow.DataType.isMap(type)) return new arrow.Map_(hinted as ConstructorParameters<typeof arrow.Map_>[0], type.keysSorted);
    return arrow.DataType.isLargeList(type) ? new arrow.LargeList(hinted) : new arrow.List(hinted);
  }
  return leaves.next().value === int96Type ? new arrow.TimestampMicrosecond('UTC') : type;
}

function childrenOf(type: arrow.DataType): readonly arrow.Field[] {
  return (type.children as readonly arrow.Field[] | null) ?? [];
}

function encodeSchema(schema: arrow.Schema): string {
  const stream = arrow.RecordBatchStreamWriter.writeAll(new arrow.Table(schema)).toUint8Array(true);
  // The stream's first message: a continuation marker, its length, the message.
  const length = new DataView(stream.buffer, stream.byteOffset, stream.byteLength).getInt32(4, true);
  return Buffer.from(stream.subarray(0, 8 + length)).toString('base64');
}
