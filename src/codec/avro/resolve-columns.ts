import { assertNever } from '../../base/assert.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, ListType, MapType, StructType } from '../../schema/types.ts';
import { UUID_BYTES, uuidText } from '../uuid-text.ts';
import { avroUnsupported } from './avro-errors.ts';
import type { AvroField, AvroRecord, AvroType } from './avro-type.ts';
import { BytesBuilder } from './bytes-builders.ts';
import { AbsentBuilder, type ColumnBuilder } from './column-builder.ts';
import { leastBytes, pairOf, valueSkipper } from './decode-values.ts';
import { ListBuilder, MapBuilder, NullableBuilder, type RecordStep, StructBuilder } from './nested-builders.ts';
import { BooleanBuilder, DecimalBuilder, LongBuilder, NumberBuilder } from './number-builders.ts';
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
  readonly rows: StructBuilder;
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

  record(stored: AvroRecord, type: StructType, path: readonly string[]): StructBuilder {
    const taken = new Map<AvroField, ColumnBuilder>();
    const children = type.fields.map((field) => {
      const source = stored.fields.find((candidate) => !taken.has(candidate) && this.#matches(candidate, field, path));
      if (source === undefined) {
        if (field.id !== undefined) this.absentFieldIds.add(field.id);
        return new AbsentBuilder(field.type);
      }
      const builder = this.#builder(source.type, field.type, [...path, source.name]);
      taken.set(source, builder);
      return builder;
    });
    const steps = stored.fields.map((field): RecordStep => {
      const builder = taken.get(field);
      return builder === undefined ? { kind: 'skip', skip: valueSkipper(field.type) } : { kind: 'read', builder };
    });
    return new StructBuilder(type, steps, children);
  }

  #matches(stored: AvroField, field: Field, path: readonly string[]): boolean {
    if (field.id === undefined) return stored.name === field.name;
    if (this.#fileHasIds) return stored.fieldId === field.id;
    const { nameToId } = this.#options;
    return nameToId === undefined ? stored.name === field.name : nameToId([...path, stored.name]) === field.id;
  }

  #builder(stored: AvroType, type: DataType, path: readonly string[]): ColumnBuilder {
    if (stored.kind === 'null') return new AbsentBuilder(type);
    if (stored.kind !== 'union') return this.#value(stored, type, path);
    const nullBranch = stored.branches.findIndex((branch) => branch.kind === 'null');
    const others = stored.branches.filter((branch) => branch.kind !== 'null');
    const [only] = others;
    if (others.length > 1) throw this.#refused(stored, type, path);
    const inner = only === undefined ? new AbsentBuilder(type) : this.#value(only, type, path);
    return new NullableBuilder(inner, stored.branches.length, nullBranch);
  }

  #value(stored: AvroType, type: DataType, path: readonly string[]): ColumnBuilder {
    const builder = this.#nested(stored, type, path) ?? primitive(stored, type);
    if (builder === undefined) throw this.#refused(stored, type, path);
    return builder;
  }

  #nested(stored: AvroType, type: DataType, path: readonly string[]): ColumnBuilder | undefined {
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

  #list(items: AvroType, type: ListType, path: readonly string[]): ColumnBuilder {
    return new ListBuilder(type, this.#builder(items, type.element, [...path, 'element']), leastBytes(items));
  }

  #map(stored: AvroType, type: MapType, path: readonly string[]): ColumnBuilder | undefined {
    if (stored.kind === 'map') return this.#entries({ kind: 'string' }, stored.values, type, path);
    const pair = stored.kind === 'array' ? pairOf(stored) : undefined;
    return pair === undefined ? undefined : this.#entries(pair.key, pair.value, type, path);
  }

  #entries(key: AvroType, value: AvroType, type: MapType, path: readonly string[]): ColumnBuilder {
    const keys = this.#builder(key, type.key, [...path, 'key']);
    const values = this.#builder(value, type.value, [...path, 'value']);
    return new MapBuilder(type, keys, values, leastBytes(key) + leastBytes(value));
  }

  #refused(stored: AvroType, type: DataType, path: readonly string[]): Error {
    return avroUnsupported(
      this.#options.name,
      `column "${path.join('.')}" is stored as ${describeStored(stored)} and not read as ${describeType(type)}`,
    );
  }
}

function primitive(stored: AvroType, type: DataType): ColumnBuilder | undefined {
  switch (type.kind) {
    case 'boolean':
      return stored.kind === 'boolean' ? new BooleanBuilder(type) : undefined;
    case 'byte':
      return stored.kind === 'int' ? new NumberBuilder(type, (length) => new Int8Array(length), smallInt(8)) : undefined;
    case 'short':
      return stored.kind === 'int' ? new NumberBuilder(type, (length) => new Int16Array(length), smallInt(16)) : undefined;
    case 'integer':
    case 'date':
      return stored.kind === 'int'
        ? new NumberBuilder(
            type,
            (length) => new Int32Array(length),
            (cursor) => cursor.int(),
          )
        : undefined;
    case 'long':
      return longBuilder(stored, type);
    case 'float':
      return stored.kind === 'float'
        ? new NumberBuilder(
            type,
            (length) => new Float32Array(length),
            (cursor) => cursor.float(),
          )
        : undefined;
    case 'double':
      return doubleBuilder(stored, type);
    case 'decimal':
      return decimalBuilder(stored, type);
    case 'string':
      return stringBuilder(stored, type);
    case 'binary':
      return binaryBuilder(stored, type);
    case 'time':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns': {
      const store = timeStore(stored, type.kind);
      return store === undefined ? undefined : new LongBuilder(type, store);
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

function smallInt(bits: number): ConstructorParameters<typeof NumberBuilder>[2] {
  const shift = 32 - bits;
  return (cursor) => {
    const value = cursor.int();
    if ((value << shift) >> shift !== value) throw cursor.fail(`${value} has more than ${bits} bits`);
    return value;
  };
}

function longBuilder(stored: AvroType, type: DataType): ColumnBuilder | undefined {
  if (stored.kind === 'long') {
    return new LongBuilder(type, (cursor, words, index) => {
      cursor.long64(words, index);
    });
  }
  if (stored.kind !== 'int') return undefined;
  return new LongBuilder(type, (cursor, words, index) => {
    const value = cursor.int();
    words[index] = value;
    words[index + 1] = value >> 31;
  });
}

function doubleBuilder(stored: AvroType, type: DataType): ColumnBuilder | undefined {
  if (stored.kind !== 'double' && stored.kind !== 'float') return undefined;
  const single = stored.kind === 'float';
  return new NumberBuilder(
    type,
    (length) => new Float64Array(length),
    (cursor) => (single ? cursor.float() : cursor.double()),
  );
}

/** The scale must be the same, the precision may have grown. */
function decimalBuilder(stored: AvroType, type: DataType & { kind: 'decimal' }): ColumnBuilder | undefined {
  if ((stored.kind !== 'fixed' && stored.kind !== 'bytes') || stored.logicalType !== 'decimal') return undefined;
  if ((stored.scale ?? 0) !== type.scale || (stored.precision ?? 0) > type.precision) return undefined;
  return new DecimalBuilder(type, stored.kind === 'fixed' ? stored.size : undefined);
}

function stringBuilder(stored: AvroType, type: DataType & { kind: 'string' }): ColumnBuilder | undefined {
  if (stored.kind === 'string') return new BytesBuilder(type, { size: undefined });
  if (type.format !== 'uuid' || stored.kind !== 'fixed' || stored.size !== UUID_BYTES) return undefined;
  return new BytesBuilder(type, { size: UUID_BYTES, convert: uuidText });
}

function binaryBuilder(stored: AvroType, type: DataType & { kind: 'binary' }): ColumnBuilder | undefined {
  if (stored.kind === 'bytes') return new BytesBuilder(type, { size: undefined });
  if (stored.kind !== 'fixed') return undefined;
  return type.fixedLength === undefined || type.fixedLength === stored.size ? new BytesBuilder(type, { size: stored.size }) : undefined;
}

function describeStored(type: AvroType): string {
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
