import { assertNever } from '../../base/assert.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, ListType, MapType, StructType } from '../../schema/types.ts';
import { AbsentBuilder } from '../columns/absent-builder.ts';
import { BooleanBuilder } from '../columns/boolean-builder.ts';
import { BytesBuilder } from '../columns/bytes-builder.ts';
import { DecimalBuilder } from '../columns/decimal-builder.ts';
import { FloatingBuilder } from '../columns/floating-builder.ts';
import { Int32Builder } from '../columns/int32-builder.ts';
import { Int64Builder } from '../columns/int64-builder.ts';
import { ListBuilder, MapBuilder, StructBuilder } from '../columns/nested-builders.ts';
import { UUID_BYTES, uuidText } from '../uuid-text.ts';
import { avroUnsupported } from './avro-errors.ts';
import { type AvroReader, NullReader } from './avro-reader.ts';
import type { AvroField, AvroRecord, AvroType } from './avro-type.ts';
import { ListReader, MapReader, NullableReader, type RecordStep, StructReader } from './nested-readers.ts';
import {
  BooleanReader,
  BytesReader,
  ConvertedReader,
  DecimalReader,
  LongReader,
  NumberReader,
  type StoreLong,
  TextReader,
} from './scalar-readers.ts';
import { leastBytes, pairOf, valueSkipper } from './skip-values.ts';
import { timeStore } from './time-stores.ts';

/**
 * The id of a field of a file without ids, by its names from the outermost in; the parts of lists and maps are called `element`, `key`
 * and `value`. `undefined` leaves the field out.
 */
export type NameToId = (path: readonly string[]) => number | undefined;

export interface ResolveOptions {
  /** Names the file in errors. */
  readonly name: string;
  readonly nameToId?: NameToId | undefined;
}

export interface ResolvedColumns {
  readonly rows: StructReader;
  /** Ids of the fields of the schema, at every level, that the file does not have. */
  readonly absentFieldIds: ReadonlySet<number>;
}

/**
 * How the rows of a file become columns of `schema`. Fields are matched by id; a file without any id by `nameToId`, else by name.
 *
 * @throws ServiceError `AVRO_UNSUPPORTED` naming the column whose stored type is not read as the one of the schema.
 */
export function resolveColumns(type: AvroRecord, schema: StructType, options: ResolveOptions): ResolvedColumns {
  const resolver = new Resolver(hasIds(type), options);
  return { rows: resolver.record(type, schema, []), absentFieldIds: resolver.absentFieldIds };
}

function hasIds(type: AvroType): boolean {
  switch (type.kind) {
    case 'record':
      return type.fields.some((field) => field.fieldId !== undefined || hasIds(field.type));
    case 'array':
      return type.elementId !== undefined || hasIds(type.items);
    case 'map':
      return type.valueId !== undefined || hasIds(type.values);
    case 'union':
      return type.branches.some(hasIds);
    default:
      return false;
  }
}

class Resolver {
  readonly absentFieldIds = new Set<number>();
  readonly #fileHasIds: boolean;
  readonly #options: ResolveOptions;

  constructor(fileHasIds: boolean, options: ResolveOptions) {
    this.#fileHasIds = fileHasIds;
    this.#options = options;
  }

  record(stored: AvroRecord, type: StructType, path: readonly string[]): StructReader {
    const taken = new Map<AvroField, AvroReader>();
    const children = type.fields.map((field) => {
      const source = stored.fields.find((candidate) => !taken.has(candidate) && this.#matches(candidate, field, path));
      if (source === undefined) {
        if (field.id !== undefined) this.absentFieldIds.add(field.id);
        return new AbsentBuilder(field.type);
      }
      const reader = this.#reader(source.type, field.type, [...path, source.name]);
      taken.set(source, reader);
      return reader.column;
    });
    const steps = stored.fields.map((field): RecordStep => {
      const reader = taken.get(field);
      return reader === undefined ? { kind: 'skip', skip: valueSkipper(field.type) } : { kind: 'read', reader };
    });
    return new StructReader(new StructBuilder(type, children), steps);
  }

  #matches(stored: AvroField, field: Field, path: readonly string[]): boolean {
    if (field.id === undefined) return stored.name === field.name;
    if (this.#fileHasIds) return stored.fieldId === field.id;
    const { nameToId } = this.#options;
    return nameToId === undefined ? stored.name === field.name : nameToId([...path, stored.name]) === field.id;
  }

  #reader(stored: AvroType, type: DataType, path: readonly string[]): AvroReader {
    if (stored.kind === 'null') return new NullReader(new AbsentBuilder(type));
    if (stored.kind !== 'union') return this.#value(stored, type, path);
    const nullBranch = stored.branches.findIndex((branch) => branch.kind === 'null');
    const others = stored.branches.filter((branch) => branch.kind !== 'null');
    const [only] = others;
    if (others.length > 1) throw this.#refused(stored, type, path);
    const inner = only === undefined ? new NullReader(new AbsentBuilder(type)) : this.#value(only, type, path);
    return new NullableReader(inner, stored.branches.length, nullBranch);
  }

  #value(stored: AvroType, type: DataType, path: readonly string[]): AvroReader {
    const reader = this.#nested(stored, type, path) ?? primitive(stored, type);
    if (reader === undefined) throw this.#refused(stored, type, path);
    return reader;
  }

  #nested(stored: AvroType, type: DataType, path: readonly string[]): AvroReader | undefined {
    switch (type.kind) {
      case 'struct':
        return stored.kind === 'record' ? this.record(stored, type, path) : undefined;
      case 'list':
        return stored.kind === 'array' ? this.#list(stored.items, type, path) : undefined;
      case 'map':
        return this.#map(stored, type, path);
      default:
        return undefined;
    }
  }

  #list(items: AvroType, type: ListType, path: readonly string[]): AvroReader {
    const element = this.#reader(items, type.element, [...path, 'element']);
    return new ListReader(new ListBuilder(type, element.column), element, leastBytes(items));
  }

  #map(stored: AvroType, type: MapType, path: readonly string[]): AvroReader | undefined {
    if (stored.kind === 'map') return this.#entries({ kind: 'string' }, stored.values, type, path);
    const pair = stored.kind === 'array' ? pairOf(stored) : undefined;
    return pair === undefined ? undefined : this.#entries(pair.key, pair.value, type, path);
  }

  #entries(key: AvroType, value: AvroType, type: MapType, path: readonly string[]): AvroReader {
    const keys = this.#reader(key, type.key, [...path, 'key']);
    const values = this.#reader(value, type.value, [...path, 'value']);
    return new MapReader(new MapBuilder(type, keys.column, values.column), keys, values, leastBytes(key) + leastBytes(value));
  }

  #refused(stored: AvroType, type: DataType, path: readonly string[]): Error {
    return avroUnsupported(
      this.#options.name,
      `column "${path.join('.')}" is stored as ${describeStored(stored)} and not read as ${describeType(type)}`,
    );
  }
}

function primitive(stored: AvroType, type: DataType): AvroReader | undefined {
  switch (type.kind) {
    case 'boolean':
      return stored.kind === 'boolean' ? new BooleanReader(new BooleanBuilder()) : undefined;
    case 'byte':
      return stored.kind === 'int' ? new NumberReader(new Int32Builder({ kind: type.kind }), smallInt(8)) : undefined;
    case 'short':
      return stored.kind === 'int' ? new NumberReader(new Int32Builder({ kind: type.kind }), smallInt(16)) : undefined;
    case 'integer':
    case 'date':
      return stored.kind === 'int' ? new NumberReader(new Int32Builder({ kind: type.kind }), (cursor) => cursor.int()) : undefined;
    case 'long': {
      const store = longStore(stored);
      return store === undefined ? undefined : new LongReader(new Int64Builder({ kind: type.kind }), store);
    }
    case 'float':
      return stored.kind === 'float' ? new NumberReader(new FloatingBuilder({ kind: type.kind }), (cursor) => cursor.float()) : undefined;
    case 'double':
      return doubleReader(stored);
    case 'decimal':
      return decimalReader(stored, type);
    case 'string':
      return stringReader(stored, type);
    case 'binary':
      return binaryReader(stored, type);
    case 'time':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns': {
      const store = timeStore(stored, type.kind);
      return store === undefined ? undefined : new LongReader(new Int64Builder({ kind: type.kind }), store);
    }
    case 'struct':
    case 'list':
    case 'map':
    case 'variant':
    case 'void':
      return undefined;
    default:
      return assertNever(type);
  }
}

function smallInt(bits: number): ConstructorParameters<typeof NumberReader>[1] {
  const shift = 32 - bits;
  return (cursor) => {
    const value = cursor.int();
    if ((value << shift) >> shift !== value) throw cursor.fail(`${value} has more than ${bits} bits`);
    return value;
  };
}

/** Reads an int or a long as 64 bits. */
export function longStore(stored: AvroType): StoreLong | undefined {
  if (stored.kind === 'long') {
    return (cursor, words, index) => {
      cursor.long64(words, index);
    };
  }
  if (stored.kind !== 'int') return undefined;
  return (cursor, words, index) => {
    const value = cursor.int();
    words[index] = value;
    words[index + 1] = value >> 31;
  };
}

function doubleReader(stored: AvroType): AvroReader | undefined {
  if (stored.kind !== 'double' && stored.kind !== 'float') return undefined;
  const single = stored.kind === 'float';
  return new NumberReader(new FloatingBuilder({ kind: 'double' }), (cursor) => (single ? cursor.float() : cursor.double()));
}

/** The scale must be the same, the precision may have grown. */
function decimalReader(stored: AvroType, type: DataType & { kind: 'decimal' }): AvroReader | undefined {
  if ((stored.kind !== 'fixed' && stored.kind !== 'bytes') || stored.logicalType !== 'decimal') return undefined;
  if ((stored.scale ?? 0) !== type.scale || (stored.precision ?? 0) > type.precision) return undefined;
  return new DecimalReader(new DecimalBuilder(type), stored.kind === 'fixed' ? stored.size : undefined);
}

function stringReader(stored: AvroType, type: DataType & { kind: 'string' }): AvroReader | undefined {
  if (stored.kind === 'string') return new TextReader(new BytesBuilder(type));
  if (type.format !== 'uuid' || stored.kind !== 'fixed' || stored.size !== UUID_BYTES) return undefined;
  return new ConvertedReader(new BytesBuilder(type), (cursor) => uuidText(cursor.fixed(UUID_BYTES)));
}

function binaryReader(stored: AvroType, type: DataType & { kind: 'binary' }): AvroReader | undefined {
  if (stored.kind === 'bytes') return new BytesReader(new BytesBuilder(type), undefined);
  if (stored.kind !== 'fixed') return undefined;
  return type.fixedLength === undefined || type.fixedLength === stored.size
    ? new BytesReader(new BytesBuilder(type), stored.size)
    : undefined;
}

/** What a stored type is called in messages. */
export function describeStored(type: AvroType): string {
  switch (type.kind) {
    case 'union':
      return `union of ${type.branches.map(describeStored).join(', ')}`.slice(0, 120);
    case 'fixed':
      return `fixed(${type.size})${type.logicalType === undefined ? '' : ` ${type.logicalType}`}`;
    case 'record':
    case 'enum':
    case 'array':
    case 'map':
      return type.kind;
    default:
      return type.logicalType === undefined ? type.kind : `${type.kind} ${type.logicalType}`;
  }
}
