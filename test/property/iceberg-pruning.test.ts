import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bindExpression } from '../../src/expr/bind-expression.ts';
import { columnPathSql, expressionSql } from '../../src/expr/sql/engine-sql.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import type { DataType, Field, StructType } from '../../src/schema/types.ts';
import { resultType } from '../../src/table/partitioning/apply-transform.ts';
import type { PartitionFieldDefinition, Transform } from '../../src/table/partitioning/transform.ts';
import { IcebergPropertyTables } from '../support/property/iceberg-bench.ts';
import { IcebergInvariants } from '../support/property/iceberg-invariants.ts';
import { holds, propertyTimeoutMs, seedOr } from '../support/property/property-runs.ts';
import { randomFilter } from '../support/property/random-filters.ts';
import { batchOf, linesOf, type RandomTable, randomTable } from '../support/property/random-tables.ts';

const seed = seedOr(20_261_121);
let tables: IcebergPropertyTables;
beforeAll(async () => {
  tables = await IcebergPropertyTables.open();
});
afterAll(() => tables.close());

const limit = { timeout: propertyTimeoutMs };

interface Drawn {
  readonly table: RandomTable;
  readonly start: readonly PartitionFieldDefinition[];
  /** Added after the first rows. */
  readonly later: PartitionFieldDefinition | undefined;
}

/** Types that the format has. */
function storable(type: DataType): DataType {
  switch (type.kind) {
    case 'byte':
    case 'short':
      return { kind: 'integer' };
    case 'struct':
      return { kind: 'struct', fields: storableFields(type.fields) };
    case 'list':
      return { ...type, element: storable(type.element) };
    case 'map':
      return { ...type, key: storable(type.key), value: storable(type.value) };
    default:
      return type;
  }
}

function storableFields(fields: readonly Field[]): readonly Field[] {
  return fields.map((field) => ({ ...field, type: storable(field.type) }));
}

const transforms: readonly Transform[] = [
  { kind: 'identity' },
  { kind: 'bucket', count: 1 },
  { kind: 'bucket', count: 4 },
  { kind: 'truncate', width: 1 },
  { kind: 'truncate', width: 7 },
  { kind: 'year' },
  { kind: 'month' },
  { kind: 'day' },
  { kind: 'hour' },
];

/** The least decimals of a precision have no multiple of the width below them; such rows are refused. */
function overflows(transform: Transform, type: DataType): boolean {
  return type.kind === 'decimal' && transform.kind === 'truncate' && transform.width > 1;
}

/** Every transform of every column and member that takes it. */
function possibleFields({ fields }: StructType, above: readonly string[] = []): readonly PartitionFieldDefinition[] {
  return fields.flatMap(({ name, type }): readonly PartitionFieldDefinition[] => {
    const source = [...above, name];
    if (type.kind === 'struct') return possibleFields(type, source);
    return transforms
      .filter((transform) => resultType(transform, type) !== undefined && !overflows(transform, type))
      .map((transform) => ({ source, transform }));
  });
}

/** Fields by their place, so that their names cannot meet those of columns. */
function named(fields: readonly PartitionFieldDefinition[]): readonly PartitionFieldDefinition[] {
  return fields.map((field, index) => ({ ...field, name: `partition field ${index}` }));
}

const drawn: fc.Arbitrary<Drawn> = fc
  .tuple(
    randomTable,
    fc.record({
      version: fc.constantFrom('2', '2', '3'),
      format: fc.constantFrom('parquet', 'parquet', 'avro', 'orc'),
      metrics: fc.constantFrom('truncate(16)', 'truncate(1)', 'truncate(3)', 'full', 'counts', 'none'),
    }),
  )
  .chain(([{ schema, batches }, { version, format, metrics }]) => {
    const table: RandomTable = {
      schema: { kind: 'struct', fields: storableFields(schema.fields) },
      partitionBy: [],
      properties: { 'format-version': version, 'write.format.default': format, 'write.metadata.metrics.default': metrics },
      batches,
    };
    const possible = possibleFields(table.schema);
    if (possible.length === 0) return fc.constant<Drawn>({ table, start: [], later: undefined });
    const chosen = fc.uniqueArray(fc.constantFrom(...possible), { maxLength: 3, selector: ({ source }) => source.join('\0') });
    return chosen.map((fields): Drawn => {
      const [later, ...start] = named(fields);
      return fields.length < 2 ? { table, start: named(fields), later: undefined } : { table, start, later };
    });
  });

/** Each batch is a snapshot; the spec changes after the first. */
async function written({ table: { schema, properties, ...rest }, start, later }: Drawn): Promise<IcebergTable> {
  const table = await tables.create({ schema, partitioning: start, properties });
  for (const [index, rows] of rest.batches.entries()) {
    await tables.append(table, batchOf({ schema, partitionBy: [] }, rows));
    if (index === 0 && later !== undefined) await table.operations.alter({ kind: 'add-partition-field', field: later });
  }
  return table;
}

describe(`Iceberg tables of any columns, rows and partitions (SEED=${seed})`, () => {
  it('have at every snapshot the rows that were written', limit, async () => {
    await holds(
      drawn,
      async (given) => {
        const table = await tables.open((await written(given)).name);
        const batches = given.table.batches.map((rows) => batchOf(given.table, rows));
        const { snapshots } = (await table.refresh()).metadata;
        expect(snapshots).toHaveLength(batches.length);
        for (const [index, { snapshotId }] of snapshots.entries()) {
          expect(await tables.lines(table, snapshotId)).toEqual(linesOf(batches.slice(0, index + 1)));
        }
        expect(await new IcebergInvariants().faults(table, { everything: true })).toEqual([]);
      },
      { runs: 8, seed },
    );
  });

  it('lose no row to the manifests and files that a condition leaves out', limit, async () => {
    await holds(
      drawn.chain((given) => fc.tuple(fc.constant(given), fc.array(randomFilter(given.table), { minLength: 10, maxLength: 10 }))),
      async ([given, filters]) => {
        const table = await written(given);
        const snapshot = await table.refresh();
        const whole = await table.scan(snapshot);
        for (const filter of filters) {
          const bound = bindExpression(filter, [{ schema: snapshot.schema }]);
          const condition = expressionSql(bound, columnPathSql);
          const pruned = await table.scan(snapshot, { filter: bound });
          expect(await tables.scanned(pruned, condition), condition).toEqual(await tables.scanned(whole, condition));
        }
      },
      { runs: 10, seed },
    );
  });
});
