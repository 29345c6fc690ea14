import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bindExpression } from '../../../../src/expr/bind-expression.ts';
import type { Expression, Literal } from '../../../../src/expr/expression.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { ContentFile, FieldSummary, ManifestFile, PartitionValue } from '../../../../src/iceberg/metadata/content-file.ts';
import { encodeSingleValue } from '../../../../src/iceberg/metadata/single-value.ts';
import type { PartitionField } from '../../../../src/iceberg/metadata/table-metadata.ts';
import { fileFilter } from '../../../../src/iceberg/scan/file-filter.ts';
import type { DataType, StructType } from '../../../../src/schema/types.ts';
import { applyTransform, resultType } from '../../../../src/table/partitioning/apply-transform.ts';
import { parseTransform } from '../../../../src/table/partitioning/transform.ts';
import { fileOf, metadataOf } from '../../../support/iceberg/made-entries.ts';

const types: Readonly<Record<string, DataType>> = {
  i: { kind: 'integer' },
  l: { kind: 'long' },
  s: { kind: 'string' },
  d: { kind: 'date' },
  t: { kind: 'timestamp' },
  m: { kind: 'decimal', precision: 9, scale: 2 },
};
const names = Object.keys(types);
const struct: StructType = {
  kind: 'struct',
  fields: names.map((name, at) => ({ name, type: types[name] ?? { kind: 'string' }, nullable: true, id: at + 1 })),
};

type Row = Readonly<Record<string, PartitionValue>>;

function specOf(transforms: readonly (readonly [string, string])[]): readonly PartitionField[] {
  return transforms.map(([name, transform], at) => ({
    sourceId: names.indexOf(name) + 1,
    fieldId: 1_000 + at,
    name: `p${at}`,
    transform: parseTransform(transform),
  }));
}

function partitionOf(fields: readonly PartitionField[], row: Row): readonly PartitionValue[] {
  return fields.map(({ sourceId, transform }) => {
    const name = names[sourceId - 1] ?? '';
    return applyTransform(transform, types[name] ?? { kind: 'string' }, row[name]);
  });
}

/** A file of rows of one partition, with exact metrics. */
function fileWith(fields: readonly PartitionField[], rows: readonly Row[], options: { readonly metrics: boolean }): ContentFile {
  const [nulls, lower, upper] = [new Map<number, number>(), new Map<number, Uint8Array>(), new Map<number, Uint8Array>()];
  for (const [at, name] of names.entries()) {
    const type = types[name] ?? { kind: 'string' };
    const values = rows.map((row) => row[name]).filter((value) => value !== undefined);
    nulls.set(at + 1, rows.length - values.length);
    const ordered = values.toSorted((a, b) => compare(a, b));
    const [least, most] = [ordered[0], ordered.at(-1)];
    if (least === undefined || most === undefined) continue;
    lower.set(at + 1, encodeSingleValue(type, least) ?? new Uint8Array());
    upper.set(at + 1, encodeSingleValue(type, most) ?? new Uint8Array());
  }
  const metrics = options.metrics ? { nullValueCounts: nulls, lowerBounds: lower, upperBounds: upper } : {};
  return fileOf({ partition: partitionOf(fields, rows[0] ?? {}), recordCount: rows.length, ...metrics });
}

function manifestWith(fields: readonly PartitionField[], file: ContentFile): ManifestFile {
  const partitions = fields.map((field, place): FieldSummary => {
    const value = file.partition[place];
    const type = resultType(field.transform, types[names[field.sourceId - 1] ?? ''] ?? { kind: 'string' }) ?? { kind: 'string' };
    const bound = value === undefined ? undefined : encodeSingleValue(type, value);
    return { containsNull: value === undefined, containsNan: false, lowerBound: bound, upperBound: bound };
  });
  return {
    path: '/m.avro',
    length: 1,
    specId: 0,
    content: 'data',
    sequenceNumber: 1n,
    minSequenceNumber: 1n,
    addedSnapshotId: 1n,
    addedFiles: 1,
    existingFiles: 0,
    deletedFiles: 0,
    addedRows: 1n,
    existingRows: 0n,
    deletedRows: 0n,
    partitions,
    keyMetadata: undefined,
    firstRowId: undefined,
  };
}

function filterOf(fields: readonly PartitionField[], filter: Expression): ReturnType<typeof fileFilter> {
  const metadata = metadataOf([{ specId: 0, fields }], { fields: struct.fields });
  const [schema] = metadata.schemas;
  if (schema === undefined) throw new TypeError('no schema');
  return fileFilter(metadata, schema, filter);
}

function compare(left: PartitionValue, right: PartitionValue): number {
  if (typeof left === 'string' && typeof right === 'string') return Buffer.compare(Buffer.from(left), Buffer.from(right));
  return (left ?? 0) < (right ?? 0) ? -1 : (left ?? 0) > (right ?? 0) ? 1 : 0;
}

const texts = fc.oneof(
  fc.constantFrom('', 'a', 'ab', 'abc', 'abd', 'b', 'zz', 'é', '😀😁', '😀😂'),
  fc.string({ maxLength: 20, unit: 'grapheme' }),
);
const valueOf: Readonly<Record<string, fc.Arbitrary<PartitionValue>>> = {
  i: fc.integer({ min: -40, max: 40 }),
  l: fc.bigInt({ min: -40n, max: 40n }),
  s: texts,
  d: fc.integer({ min: -800, max: 800 }),
  t: fc.bigInt({ min: -80_000_000_000_000n, max: 80_000_000_000_000n }),
  m: fc.bigInt({ min: -500n, max: 500n }),
};
const rowsOf = fc.record(Object.fromEntries(names.map((name) => [name, fc.option(valueOf[name] ?? texts, { nil: undefined, freq: 5 })])));
const transformsOf: Readonly<Record<string, readonly string[]>> = {
  i: ['identity', 'bucket[4]', 'truncate[7]'],
  l: ['identity', 'bucket[4]', 'truncate[7]'],
  s: ['identity', 'bucket[4]', 'truncate[2]'],
  d: ['identity', 'bucket[4]', 'year', 'month', 'day'],
  t: ['identity', 'bucket[4]', 'year', 'month', 'day', 'hour'],
  m: ['identity', 'bucket[4]', 'truncate[30]'],
};
const specs = fc
  .array(
    fc
      .constantFrom(...names)
      .chain((name) => fc.constantFrom(...(transformsOf[name] ?? [])).map((transform) => [name, transform] as const)),
    { maxLength: 3 },
  )
  .map(specOf);

function literalOf(name: string, value: PartitionValue): Literal {
  switch (name) {
    case 'i':
      return { type: 'integer', value: BigInt(Number(value)), width: 'integer' };
    case 'l':
      return { type: 'integer', value: value as bigint, width: 'long' };
    case 'd':
      return { type: 'date', days: Number(value) };
    case 't':
      return { type: 'timestamp', micros: value as bigint };
    case 'm':
      return { type: 'decimal', unscaled: value as bigint, precision: 9, scale: 2 };
    default:
      return { type: 'string', value: String(value) };
  }
}

/** A condition with what it gives for a row: true, false, or undefined for null. */
interface Condition {
  readonly expression: Expression;
  readonly test: (row: Row) => boolean | undefined;
}

const operators = {
  '=': (order: number) => order === 0,
  '<>': (order: number) => order !== 0,
  '<': (order: number) => order < 0,
  '<=': (order: number) => order <= 0,
  '>': (order: number) => order > 0,
  '>=': (order: number) => order >= 0,
} as const;

const simple: fc.Arbitrary<Condition> = fc.constantFrom(...names).chain((name) => {
  const column: Expression = { kind: 'column', path: [name], type: types[name] };
  const values = valueOf[name] ?? texts;
  const operator = fc.constantFrom(...(Object.keys(operators) as (keyof typeof operators)[]));
  return fc.oneof(
    fc.tuple(operator, values).map(
      ([op, value]): Condition => ({
        expression: { kind: 'binary', operator: op, left: column, right: { kind: 'literal', literal: literalOf(name, value) } },
        test: (row) => (row[name] === undefined ? undefined : operators[op](compare(row[name], value))),
      }),
    ),
    fc.array(values, { minLength: 1, maxLength: 3 }).map(
      (options): Condition => ({
        expression: {
          kind: 'in',
          operand: column,
          options: options.map((value) => ({ kind: 'literal', literal: literalOf(name, value) })),
          negated: false,
        },
        test: (row) => (row[name] === undefined ? undefined : options.some((value) => compare(row[name], value) === 0)),
      }),
    ),
    fc.boolean().map(
      (negated): Condition => ({
        expression: { kind: 'is', operand: column, test: 'null', negated },
        test: (row) => (row[name] === undefined) !== negated,
      }),
    ),
  );
});

const conditions: fc.Arbitrary<Condition> = fc.letrec<{ any: Condition }>((tie) => ({
  any: fc.oneof(
    { maxDepth: 3 },
    simple,
    fc.tuple(tie('any'), tie('any'), fc.boolean()).map(([left, right, both]): Condition => {
      const decisive = !both;
      return {
        expression: { kind: 'binary', operator: both ? 'and' : 'or', left: left.expression, right: right.expression },
        test: (row) => {
          const parts = [left.test(row), right.test(row)];
          return parts.includes(decisive) ? decisive : parts.includes(undefined) ? undefined : !decisive;
        },
      };
    }),
    tie('any').map(
      (inner): Condition => ({
        expression: { kind: 'unary', operator: 'not', operand: inner.expression },
        test: (row) => {
          const value = inner.test(row);
          return value === undefined ? undefined : !value;
        },
      }),
    ),
  ),
})).any;

describe('leaving out files', () => {
  it('never leaves out a manifest, a partition or a file that holds a matching row', () => {
    fc.assert(
      fc.property(
        specs,
        fc.array(rowsOf, { minLength: 1, maxLength: 6 }),
        conditions,
        fc.boolean(),
        (fields, candidates, condition, metrics) => {
          const [first = {}] = candidates;
          const partition = JSON.stringify(partitionOf(fields, first), printable);
          const rows = candidates.filter((row) => JSON.stringify(partitionOf(fields, row), printable) === partition);
          const file = fileWith(fields, rows, { metrics });
          const filter = filterOf(fields, condition.expression);
          if (!rows.some((row) => condition.test(row) === true)) return;
          expect([filter.mayHoldManifest(manifestWith(fields, file)), filter.mayHoldPartition(file), filter.mayHoldFile(file)]).toEqual([
            true,
            true,
            true,
          ]);
        },
      ),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['i', 'identity', 7, 'i = 8'],
    ['i', 'bucket[64]', 7, 'i = 8'],
    ['i', 'bucket[64]', 7, 'i IN (8, 9) AND s IS NULL'],
    ['i', 'truncate[10]', 7, 'i >= 10'],
    ['i', 'truncate[10]', -3, 'i < -10'],
    ['m', 'truncate[50]', 120n, 'm > 1.49'],
    ['s', 'truncate[2]', 'abc', "s < 'ab'"],
    ['s', 'truncate[2]', 'abc', "s LIKE 'b%'"],
    ['d', 'month', 40, "d < date'1970-02-01'"],
    ['d', 'year', -3, "d >= date'1970-01-01'"],
    ['t', 'day', 5n, "t >= timestamp'1970-01-02 00:00:00'"],
    ['t', 'hour', -1n, "t > timestamp'1970-01-01 00:00:00'"],
    ['t', 'identity', 5n, 't IS NULL'],
  ])('leaves out partitions of %s by %s of %s for %s', (name, transform, value, text) => {
    const fields = specOf([[name, transform]]);
    const file = fileWith(fields, [{ [name]: value }], { metrics: false });
    const filter = filterOf(fields, bindExpression(parseExpression(text), [{ schema: struct }]));
    expect([filter.mayHoldManifest(manifestWith(fields, file)), filter.mayHoldPartition(file), filter.mayHoldFile(file)]).toEqual([
      false,
      false,
      false,
    ]);
  });

  it.each(['i > 9', 'i < 7', 'i IS NULL', "s = 'b'", 'i = 8 AND l = 1', "NOT (i BETWEEN 0 AND 100 AND s <= 'z')"])(
    'leaves out files by their metrics for %s',
    (text) => {
      const file = fileWith(
        [],
        [
          { i: 7, s: 'aa', l: 3n },
          { i: 9, s: 'abc', l: 4n },
        ],
        { metrics: true },
      );
      expect(filterOf([], bindExpression(parseExpression(text), [{ schema: struct }])).mayHoldFile(file)).toBe(false);
    },
  );

  it('does not trust bounds of a column that a file says nothing of', () => {
    const filter = filterOf([], bindExpression(parseExpression('i = 1'), [{ schema: struct }]));
    expect(filter.mayHoldFile(fileOf({ recordCount: 3, nullValueCounts: new Map(), lowerBounds: new Map(), upperBounds: new Map() }))).toBe(
      true,
    );
  });

  it('takes bounds that were written before the type was widened', () => {
    const int = new Uint8Array(Int32Array.of(5).buffer);
    const file = fileOf({
      recordCount: 1,
      lowerBounds: new Map([[2, int]]),
      upperBounds: new Map([[2, int]]),
      nullValueCounts: new Map([[2, 0]]),
    });
    const filter = (text: string): boolean => filterOf([], bindExpression(parseExpression(text), [{ schema: struct }])).mayHoldFile(file);
    expect([filter('l = 5'), filter('l = 6')]).toEqual([true, false]);
  });
});

function printable(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
