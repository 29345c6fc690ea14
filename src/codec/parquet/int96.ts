import * as arrow from 'apache-arrow';
import { footerOf, numberOf, structsOf, withFooter } from './footer.ts';
import { parseThriftStruct, type ThriftField, type ThriftStruct, thriftField, thriftType } from './thrift-compact.ts';

/** Metadata key under which a file's Arrow schema is looked for. */
const arrowSchemaKey = 'ARROW:schema';
const fileField = { schema: 2, pairs: 5 } as const;
const elementField = { type: 1, childCount: 5 } as const;
const pairField = { key: 1, value: 2 } as const;
const int96Type = 3;

/**
 * Prepares a file whose timestamps are INT96, the type Spark writes by default, for reading. The library turns INT96 into nanoseconds,
 * which wrap outside of 1677 to 2262; told by an embedded Arrow schema that the column is in microseconds, it converts exactly.
 * Returns the file itself when it has no such column.
 *
 * @throws ServiceError `PARQUET_CORRUPT` (kind corrupt) when the footer cannot be followed.
 */
export function withInt96AsMicros(file: Uint8Array, schema: arrow.Schema): Uint8Array {
  if (!schema.fields.some((field) => holdsNanos(field.type as arrow.DataType))) return file;
  const { bytes, start } = footerOf(file);
  const leafTypes = structsOf(parseThriftStruct(bytes, fileField.schema), fileField.schema).flatMap(leafType);
  if (!leafTypes.includes(int96Type)) return file;
  const leaves = leafTypes[Symbol.iterator]();
  const hinted = new arrow.Schema(schema.fields.map((field) => hintField(field, leaves)));
  return withFooter(file, start, withPair(parseThriftStruct(bytes), arrowSchemaKey, encodeSchema(hinted)));
}

/** Physical type of a schema element that is a leaf. */
function leafType(element: ThriftStruct): readonly number[] {
  const type = thriftField(element, elementField.type);
  return typeof type === 'bigint' && numberOf(element, elementField.childCount) === 0 ? [Number(type)] : [];
}

/** The footer with one key-value pair set. */
function withPair(footer: ThriftStruct, key: string, value: string): ThriftStruct {
  const textField = (id: number, text: string): ThriftField => ({ id, type: thriftType.binary, value: Buffer.from(text) });
  const isOther = (pair: ThriftStruct): boolean => {
    const name = thriftField(pair, pairField.key);
    return !(name instanceof Uint8Array) || Buffer.compare(name, Buffer.from(key)) !== 0;
  };
  const pair: ThriftStruct = { kind: 'struct', fields: [textField(pairField.key, key), textField(pairField.value, value)] };
  const items = [...structsOf(footer, fileField.pairs).filter(isOther), pair];
  const pairs: ThriftField = { id: fileField.pairs, type: thriftType.list, value: { kind: 'list', elementType: thriftType.struct, items } };
  const others = footer.fields.filter(({ id }) => id !== fileField.pairs);
  return { kind: 'struct', fields: [...others, pairs].sort((a, b) => a.id - b.id) };
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
