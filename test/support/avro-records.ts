import { assertNever } from '../../src/base/assert.ts';
import type { JsonValue } from '../../src/base/bigint-json.ts';
import { setMember } from '../../src/base/set-member.ts';
import type { AvroArray, AvroRecord, AvroType, AvroUnion } from '../../src/codec/avro/avro-type.ts';
import type { ByteCursor } from '../../src/codec/avro/byte-cursor.ts';
import { blockCursor, checkBlockEnd, openAvroFile, type ReadAvroOptions } from '../../src/codec/avro/read-avro-file.ts';
import type { AvroCodec, AvroContainer } from '../../src/codec/avro/read-container.ts';
import { enumSymbol, leastBytes, pairOf, valueSkipper } from '../../src/codec/avro/skip-values.ts';
import type { PlainRow, PlainValue } from '../../src/codec/rows.ts';

export interface ReadRecordsOptions {
  /** Ids of fields that are passed over instead of read, at every level: the objects lack them. */
  readonly omitFieldIds?: ReadonlySet<number> | undefined;
}

export interface AvroFile {
  /** The header's entries, `avro.schema` and `avro.codec` among them. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  /** The writer's schema as it is written, ids and all. */
  readonly schema: JsonValue;
  /** The same with references resolved; see `fieldNamesById`. */
  readonly type: AvroRecord;
  readonly codec: AvroCodec;
  /** The rows in file order, see `recordDecoder` for their values. Can be asked for again. */
  readonly records: (options?: ReadRecordsOptions) => Generator<PlainRow, void, undefined>;
}

/**
 * Opens an Avro file of records, such as a manifest or a manifest list; rows are read while they are asked for.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` naming file and place, also from `records`; `AVRO_UNSUPPORTED` for another codec or a type
 *   that contains itself.
 */
export function readAvroFile(bytes: Uint8Array, options: ReadAvroOptions): AvroFile {
  const { container, schema, type } = openAvroFile(bytes, options);
  return {
    metadata: container.metadata,
    schema,
    type,
    codec: container.codec,
    records: ({ omitFieldIds = none } = {}) => readRecords(container, type, omitFieldIds),
  };
}

const none: ReadonlySet<number> = new Set();

function* readRecords(container: AvroContainer, type: AvroRecord, omit: ReadonlySet<number>): Generator<PlainRow, void, undefined> {
  const read = recordDecoder(type, omit);
  const rowBytes = leastBytes(type);
  for (const block of container.blocks()) {
    const cursor = blockCursor(block, rowBytes);
    for (let index = 0; index < block.rowCount; index++) yield read(cursor);
    checkBlockEnd(cursor);
  }
}

/** Reads one value and moves on. */
type ValueDecoder = (cursor: ByteCursor) => PlainValue;

/**
 * A decoder of a record as an object by the writer's field names: int, float and double are numbers, long `bigint`, bytes and fixed views
 * of the block, enums their symbols, maps and arrays that stand for maps `Map`s, unions the value itself. Logical types stay what they are
 * stored as. Fields whose id is in `omit` are passed over, at every level.
 */
function recordDecoder(type: AvroRecord, omit: ReadonlySet<number>): (cursor: ByteCursor) => PlainRow {
  const fields = type.fields.map((field) => ({ name: field.name, read: fieldDecoder(field.type, field.fieldId, omit) }));
  return (cursor) => {
    const row: Record<string, PlainValue> = {};
    for (const { name, read } of fields) {
      const value = read(cursor);
      if (value === undefined) continue;
      if (name === '__proto__') setMember(row, name, value);
      else row[name] = value;
    }
    return row;
  };
}

function fieldDecoder(type: AvroType, id: number | undefined, omit: ReadonlySet<number>): (cursor: ByteCursor) => PlainValue | undefined {
  if (id === undefined || !omit.has(id)) return valueDecoder(type, omit);
  const skip = valueSkipper(type);
  return (cursor) => {
    skip(cursor);
    return undefined;
  };
}

function valueDecoder(type: AvroType, omit: ReadonlySet<number>): ValueDecoder {
  switch (type.kind) {
    case 'null':
      return (cursor) => {
        cursor.free();
        return null;
      };
    case 'boolean':
      return (cursor) => cursor.boolean();
    case 'int':
      return (cursor) => cursor.int();
    case 'long':
      return (cursor) => cursor.long();
    case 'float':
      return (cursor) => cursor.float();
    case 'double':
      return (cursor) => cursor.double();
    case 'bytes':
      return (cursor) => cursor.bytes();
    case 'string':
      return (cursor) => cursor.text();
    case 'fixed':
      return (cursor) => cursor.fixed(type.size);
    case 'enum':
      return (cursor) => enumSymbol(type.symbols, cursor);
    case 'record':
      return recordDecoder(type, omit);
    case 'array':
      return type.map ? mapOfPairsDecoder(type, omit) : arrayDecoder(type, omit);
    case 'map':
      return mapDecoder((cursor) => cursor.text(), valueDecoder(type.values, omit), 1 + leastBytes(type.values));
    case 'union':
      return unionDecoder(type, omit);
    default:
      return assertNever(type);
  }
}

function arrayDecoder(type: AvroArray, omit: ReadonlySet<number>): ValueDecoder {
  const read = valueDecoder(type.items, omit);
  const itemBytes = leastBytes(type.items);
  return (cursor) => {
    const items: PlainValue[] = [];
    for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
      for (let index = 0; index < count; index++) items.push(read(cursor));
    }
    return items;
  };
}

function mapOfPairsDecoder(type: AvroArray, omit: ReadonlySet<number>): ValueDecoder {
  const pair = pairOf(type);
  if (pair === undefined) return arrayDecoder(type, omit);
  return mapDecoder(valueDecoder(pair.key, omit), valueDecoder(pair.value, omit), leastBytes(type.items));
}

function mapDecoder(key: ValueDecoder, value: ValueDecoder, itemBytes: number): ValueDecoder {
  return (cursor) => {
    const map = new Map<PlainValue, PlainValue>();
    for (let count = cursor.blockLength(itemBytes); count > 0; count = cursor.blockLength(itemBytes)) {
      for (let index = 0; index < count; index++) {
        const entry = key(cursor);
        map.set(entry, value(cursor));
      }
    }
    return map;
  };
}

function unionDecoder(type: AvroUnion, omit: ReadonlySet<number>): ValueDecoder {
  const branches = type.branches.map((branch) => valueDecoder(branch, omit));
  const [first, second] = branches;
  if (branches.length === 2 && second !== undefined && type.branches[0]?.kind === 'null') {
    return (cursor) => (cursor.branch(2) === 0 ? null : second(cursor));
  }
  if (branches.length === 2 && first !== undefined && type.branches[1]?.kind === 'null') {
    return (cursor) => (cursor.branch(2) === 0 ? first(cursor) : null);
  }
  return (cursor) => {
    const index = cursor.branch(branches.length);
    return branches[index]?.(cursor) ?? null;
  };
}

/** Field names of a record by the ids the writer gave them. */
export function fieldNamesById(record: AvroRecord): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  for (const field of record.fields) if (field.fieldId !== undefined) names.set(field.fieldId, field.name);
  return names;
}
