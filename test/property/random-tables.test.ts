import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DeltaTable } from '../../src/delta/delta-table.ts';
import { bindExpression } from '../../src/expr/bind-expression.ts';
import { columnPathSql, expressionSql } from '../../src/expr/sql/engine-sql.ts';
import { holds, propertySeed, propertyTimeoutMs } from '../support/property/property-runs.ts';
import { PropertyTables } from '../support/property/property-tables.ts';
import { randomFilter } from '../support/property/random-filters.ts';
import { batchOf, linesOf, type RandomTable, randomTable } from '../support/property/random-tables.ts';
import { untrueStatistics } from '../support/property/true-bounds.ts';

let tables: PropertyTables;
beforeAll(async () => {
  tables = await PropertyTables.open();
});
afterAll(() => tables.close());

const limit = { timeout: propertyTimeoutMs };

async function written(drawn: RandomTable): Promise<DeltaTable> {
  const table = await tables.create(drawn);
  for (const rows of drawn.batches) await tables.append(table, batchOf(drawn, rows));
  return table;
}

/** What each version has to have. */
function history(drawn: RandomTable): readonly (readonly string[])[] {
  const batches = drawn.batches.map((rows) => batchOf(drawn, rows));
  return [0, ...batches.map((_, index) => index + 1)].map((count) => linesOf(batches.slice(0, count)));
}

describe(`tables of any columns and any rows (SEED=${propertySeed})`, () => {
  it('have the rows that were written, at every version and through every checkpoint, and statistics that are true', limit, async () => {
    await holds(
      randomTable,
      async (drawn) => {
        const table = await written(drawn);
        const opened = await tables.local.open(table.name);
        for (const [version, lines] of history(drawn).entries()) expect(await tables.lines(opened, version)).toEqual(lines);
        expect(await untrueStatistics(tables, opened)).toEqual([]);
      },
      { runs: 25 },
    );
  });

  it('lose no row to the files that a condition leaves out', limit, async () => {
    await holds(
      randomTable.chain((drawn) => fc.tuple(fc.constant(drawn), fc.array(randomFilter(drawn), { minLength: 10, maxLength: 10 }))),
      async ([drawn, filters]) => {
        const table = await written(drawn);
        const snapshot = await table.refresh();
        const whole = await table.scan(snapshot);
        for (const filter of filters) {
          const bound = bindExpression(filter, [{ schema: snapshot.schema }]);
          const condition = expressionSql(bound, columnPathSql);
          const pruned = await table.scan(snapshot, { filter: bound });
          expect(await tables.scanned(pruned, condition), condition).toEqual(await tables.scanned(whole, condition));
        }
      },
      { runs: 15 },
    );
  });

  it('keep their rows when they are rewritten, and their changes add up', limit, async () => {
    await holds(
      randomTable,
      async (drawn) => {
        const table = await written(drawn);
        const lines = history(drawn).at(-1) ?? [];
        await table.operations.optimize({});
        expect(await tables.lines(table), 'compacted').toEqual(lines);
        expect(await untrueStatistics(tables, table), 'compacted').toEqual([]);
        const sortable = drawn.schema.fields.find(
          ({ name, type }) => !drawn.partitionBy.includes(name) && !['struct', 'list', 'map', 'binary', 'boolean'].includes(type.kind),
        );
        if (sortable !== undefined) await table.operations.optimize({ zOrderBy: [sortable.name] });
        expect(await tables.lines(table), 'in Z order').toEqual(lines);
        expect(await untrueStatistics(tables, table), 'in Z order').toEqual([]);
        if (drawn.properties['delta.enableChangeDataFeed'] !== 'true') return;
        const { version } = await table.refresh();
        expect(await tables.folded(table, 0, version), 'changes from the beginning').toEqual(lines);
      },
      { runs: 12 },
    );
  });
});
