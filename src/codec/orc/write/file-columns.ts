import { innerFields } from '../../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../../schema/types.ts';
import { unsupportedOrc } from '../orc-errors.ts';
import type { OrcKind } from '../proto/numbers.ts';
import { attribute } from '../schema/attributes.ts';

/** A column of a file to be written. */
export interface FileColumn {
  /** Its number, depth first from the root's 0. */
  readonly column: number;
  readonly kind: OrcKind;
  readonly type: DataType;
  /** Id of the field; `undefined` for the root and for fields without one. */
  readonly id: number | undefined;
  readonly names: readonly string[];
  readonly children: readonly FileColumn[];
  readonly attributes: ReadonlyMap<string, string>;
}

/** The columns of a file for a schema: the root, with everything in it. */
export function fileColumns(schema: StructType): FileColumn {
  return place(schema, undefined, { next: 0 });
}

/** A column and all within it, in the order of their numbers. */
export function* flattened(root: FileColumn): Generator<FileColumn, void, undefined> {
  yield root;
  for (const child of root.children) yield* flattened(child);
}

function place(type: DataType, part: Field | undefined, counter: { next: number }): FileColumn {
  const column = counter.next;
  counter.next += 1;
  const parts = innerFields(type);
  const children = parts.map((child) => place(child.type, child, counter));
  const names = type.kind === 'struct' ? parts.map(({ name }) => name) : [];
  return { column, kind: kindOf(type), type, id: part?.id, names, children, attributes: attributesOf(type, part) };
}

function kindOf(type: DataType): OrcKind {
  if (type.kind === 'string' && type.format === 'uuid') return 'binary';
  if (type.kind === 'variant' || type.kind === 'void')
    throw unsupportedOrc('ORC files', `columns of type ${type.kind} are not written`, 'write the table as Parquet');
  return kinds[type.kind];
}

const kinds = {
  boolean: 'boolean',
  byte: 'tinyint',
  short: 'smallint',
  integer: 'int',
  long: 'bigint',
  float: 'float',
  double: 'double',
  decimal: 'decimal',
  string: 'string',
  binary: 'binary',
  date: 'date',
  time: 'bigint',
  timestamp: 'timestamp with local time zone',
  timestamp_ntz: 'timestamp',
  timestamp_ns: 'timestamp with local time zone',
  timestamp_ntz_ns: 'timestamp',
  list: 'list',
  map: 'map',
  struct: 'struct',
} as const;

/** Iceberg spec: ORC. */
function attributesOf(type: DataType, part: Field | undefined): ReadonlyMap<string, string> {
  const attributes = new Map<string, string>();
  if (part === undefined) return attributes;
  if (part.id !== undefined) attributes.set(attribute.id, String(part.id));
  attributes.set(attribute.required, String(!part.nullable));
  for (const [key, value] of notesOf(type)) attributes.set(key, value);
  return attributes;
}

function notesOf(type: DataType): readonly (readonly [string, string])[] {
  switch (type.kind) {
    case 'long':
      return [[attribute.longType, 'LONG']];
    case 'time':
      return [[attribute.longType, 'TIME']];
    case 'timestamp':
    case 'timestamp_ntz':
      return [[attribute.timestampUnit, 'MICROS']];
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return [[attribute.timestampUnit, 'NANOS']];
    case 'string':
      return type.format === 'uuid' ? [[attribute.binaryType, 'UUID']] : [];
    case 'binary':
      if (type.fixedLength === undefined) return [[attribute.binaryType, 'BINARY']];
      return [
        [attribute.binaryType, 'FIXED'],
        [attribute.length, String(type.fixedLength)],
      ];
    default:
      return [];
  }
}
