import fc from 'fast-check';
import { buildBatch, type InputRow } from '../../../src/codec/build-columns.ts';
import { canonicalRows } from '../../../src/codec/canonical-json.ts';
import type { ColumnBatch } from '../../../src/schema/columns.ts';
import type { DataType, Field, StructType } from '../../../src/schema/types.ts';
import { rowOf } from './random-values.ts';

/** A table to be made and the rows of its first versions. */
export interface RandomTable {
  readonly schema: StructType;
  readonly partitionBy: readonly string[];
  readonly properties: Readonly<Record<string, string>>;
  /** Each is appended as one version. */
  readonly batches: readonly (readonly InputRow[])[];
}

const scalar: fc.Arbitrary<DataType> = fc.oneof(
  fc.constantFrom<DataType>(
    { kind: 'boolean' },
    { kind: 'byte' },
    { kind: 'short' },
    { kind: 'integer' },
    { kind: 'long' },
    { kind: 'float' },
    { kind: 'double' },
    { kind: 'string' },
    { kind: 'string' },
    { kind: 'binary' },
    { kind: 'date' },
    { kind: 'timestamp' },
    { kind: 'timestamp_ntz' },
  ),
  fc
    .tuple(fc.integer({ min: 1, max: 38 }), fc.nat(38))
    .map(([precision, scale]): DataType => ({ kind: 'decimal', precision, scale: Math.min(precision, scale) })),
);

const mapKey = fc.constantFrom<DataType>(
  { kind: 'string' },
  { kind: 'long' },
  { kind: 'date' },
  { kind: 'decimal', precision: 20, scale: 3 },
);

const plainNames = [
  'a',
  'Größe',
  '日本',
  'e\u0301',
  '\u{1f4a7}',
  'a.b',
  'select',
  'x"y',
  "it's",
  '__proto__',
  'constructor',
  'length',
  '0',
  'q%25',
  'a/b',
  'n`m',
];
const mappedNames = [' ', 'a b', 'x;y', '(n)', 'k=v', 'line\nline', '{}', 'ta\tb', ', '];

/** Types down to `depth` levels, fields of structs included. */
function typeOf(depth: number, names: readonly string[]): fc.Arbitrary<DataType> {
  if (depth <= 1) return scalar;
  const inner = typeOf(depth - 1, names);
  return fc.oneof(
    { weight: 5, arbitrary: scalar },
    { weight: 1, arbitrary: fieldsOf(inner, names).map((fields): DataType => ({ kind: 'struct', fields })) },
    {
      weight: 1,
      arbitrary: fc.tuple(inner, fc.boolean()).map(([element, elementNullable]): DataType => ({ kind: 'list', element, elementNullable })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(mapKey, inner, fc.boolean())
        .map(([key, value, valueNullable]): DataType => ({ kind: 'map', key, value, valueNullable })),
    },
  );
}

function fieldsOf(type: fc.Arbitrary<DataType>, names: readonly string[]): fc.Arbitrary<Field[]> {
  const name = fc.oneof(
    fc.constantFrom(...names),
    fc.string({ unit: fc.constantFrom('a', 'b', 'c', 'Ä', 'ä', '_', 'я', '\u{1f600}', '9'), minLength: 1, maxLength: 6 }),
  );
  return fc
    .uniqueArray(name, { minLength: 1, maxLength: 5, selector: (text) => text.toLowerCase() })
    .chain((unique) =>
      fc
        .tuple(...unique.map((text) => fc.tuple(fc.constant(text), type, fc.boolean())))
        .map((members) =>
          members.map(([text, memberType, nullable]): Field => ({ name: text, type: nullable ? loose(memberType) : memberType, nullable })),
        ),
    );
}

/** Delta takes a null struct for a missing value of each member that must have one: members of what may be null may be null. */
function loose(type: DataType): DataType {
  if (type.kind !== 'struct') return type;
  return { kind: 'struct', fields: type.fields.map((field) => ({ ...field, type: loose(field.type), nullable: true })) };
}

const mapping = fc.constantFrom('none', 'none', 'name', 'id');

/** Tables of all types, nested three deep, with names of all kinds, partitioned or not, by column mapping or not. */
export const randomTable: fc.Arbitrary<RandomTable> = mapping.chain((mode) => {
  const names = mode === 'none' ? plainNames : [...plainNames, ...mappedNames];
  return fc
    .record({
      fields: fieldsOf(typeOf(3, names), names),
      partitions: fc.nat(2),
      vectors: fc.boolean(),
      feed: fc.boolean(),
      interval: fc.constantFrom('1', '2', '100'),
      policy: fc.constantFrom('classic', 'v2'),
      structStatistics: fc.boolean(),
    })
    .chain((drawn) => {
      const partitionBy = partitionsOf(drawn.fields, drawn.partitions);
      // The format cannot tell an empty text from null in a partition.
      const fields = drawn.fields.map((field) => (partitionBy.includes(field.name) ? { ...field, nullable: true } : field));
      return fc.array(fc.array(rowOf(fields), { minLength: 1, maxLength: 12 }), { minLength: 1, maxLength: 3 }).map(
        (batches): RandomTable => ({
          schema: { kind: 'struct', fields },
          partitionBy,
          properties: {
            ...(mode === 'none' ? {} : { 'delta.columnMapping.mode': mode }),
            'delta.enableDeletionVectors': String(drawn.vectors),
            'delta.enableChangeDataFeed': String(drawn.feed),
            'delta.checkpointInterval': drawn.interval,
            'delta.checkpointPolicy': drawn.policy,
            'delta.checkpoint.writeStatsAsStruct': String(drawn.structStatistics),
          },
          batches,
        }),
      );
    });
});

/** At least one column is left for the files. */
function partitionsOf(fields: readonly Field[], count: number): readonly string[] {
  const possible = fields.filter(({ type }) => !['struct', 'list', 'map', 'binary'].includes(type.kind));
  return possible.slice(0, Math.min(count, fields.length - 1)).map((field) => field.name);
}

/** The rows as columns; an empty text in a partition column is null. */
export function batchOf({ schema, partitionBy }: Pick<RandomTable, 'schema' | 'partitionBy'>, rows: readonly InputRow[]): ColumnBatch {
  const stored = rows.map((row) =>
    Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value === '' && partitionBy.includes(name) ? null : value])),
  );
  return buildBatch(schema, stored);
}

/**
 * The rows of a batch as text. Zeros of both signs are one value, as for SQL: the engine's Parquet writer takes one for the other where it
 * makes a dictionary of both.
 */
export function linesOfBatch(batch: ColumnBatch): readonly string[] {
  return Array.from(canonicalRows(batch, { members: 'schema' }), (line) => line.replaceAll('"-0.0"', '0'));
}

/** Rows as text, in order: equal texts are equal rows. */
export function linesOf(batches: Iterable<ColumnBatch>): readonly string[] {
  return Array.from(batches, (batch) => [...linesOfBatch(batch)])
    .flat()
    .sort();
}
