import { afterAll, beforeAll, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { Assignment, MergeClause, RowOperationResult } from '../../../../src/table/row-operations.ts';
import { LocalTables } from '../../../support/local-tables.ts';
import {
  below,
  deleteFrom,
  type ModelAssignment,
  type ModelClause,
  type ModelCondition,
  type ModelOutcome,
  type ModelRow,
  mergeInto,
  randomAssignments,
  randomClauses,
  randomCondition,
  randomRow,
  updateOf,
} from '../../../support/row-model.ts';
import { changesOf, foldChanges } from '../../../support/table-changes.ts';

const stepsPerTable = 12;
const seeds = (process.env['ROW_OPERATION_SEEDS'] ?? String(Date.now() % 1_000_000)).split(',').map(Number);

let tables: LocalTables;
beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(() => tables.close());

const cases = [true, false].flatMap((vectors) =>
  [true, false].flatMap((feed) => [true, false].map((partitioned) => ({ vectors, feed, partitioned }))),
);

it.each(seeds.flatMap((seed) => cases.map((mode) => ({ seed, ...mode }))))(
  'any operations leave the rows that the model has: seed $seed, vectors $vectors, feed $feed, partitioned $partitioned',
  async ({ seed, vectors, feed, partitioned }) => {
    const random = new SeededRandom(seed + (vectors ? 1 : 0) + (feed ? 2 : 0) + (partitioned ? 4 : 0));
    const table = await tables.create(`random ${seed} ${vectors} ${feed} ${partitioned}`, 'id INT, k INT, v STRING, p STRING', {
      partitionBy: partitioned ? ['p'] : [],
      properties: { 'delta.enableDeletionVectors': String(vectors), 'delta.enableChangeDataFeed': String(feed) },
    });
    let rows: readonly ModelRow[] = [];
    let nextId = 0;
    const fresh = (count: number): readonly ModelRow[] => Array.from({ length: count }, () => randomRow(random, nextId++));
    for (let step = 0; step < stepsPerTable; step += 1) {
      const before = await table.refresh();
      if (step % 4 === 0) {
        const added = fresh(5 + below(random, 15));
        await tables.append(table, valuesSql(added));
        rows = [...rows, ...added];
      } else {
        const operation = randomOperation(random, table, { rows, fresh });
        const { text, outcome } = operation;
        const result = await operation.run().catch((error: unknown) => error);
        const what = `seed ${seed}, step ${step}: ${text}`;
        expect(result, what).toEqual(expectedOf(outcome, before.version));
        rows = outcome?.rows ?? rows;
      }
      const found = await tables.rows(table);
      expect(found, `seed ${seed}, after step ${step}`).toEqual(rows.map((row) => JSON.stringify(row)).toSorted());
      const after = await table.refresh();
      if (feed && after.version > before.version) {
        const changes = await changesOf(tables, table, after.version, after.version);
        expect(foldChanges(await tables.rows(table, before.version), changes), `seed ${seed}, feed of step ${step}`).toEqual(found);
      }
    }
  },
);

interface Operation {
  readonly text: string;
  readonly outcome: ModelOutcome | undefined;
  run(): Promise<RowOperationResult>;
}

function randomOperation(
  random: SeededRandom,
  table: DeltaTable,
  state: { readonly rows: readonly ModelRow[]; readonly fresh: (count: number) => readonly ModelRow[] },
): Operation {
  const { rows } = state;
  const { operations } = table;
  const kind = random.next();
  const condition = random.next() < 0.1 ? undefined : randomCondition(random, 't');
  const alias = 't';
  const parsed = condition === undefined ? undefined : parseExpression(condition.sql);
  if (kind < 0.25) {
    const outcome = deleteFrom(rows, condition);
    return { text: `DELETE ${condition?.sql ?? ''}`, outcome, run: () => operations.delete({ condition: parsed, alias }) };
  }
  if (kind < 0.5) {
    const assignments = randomAssignments(random, { withSource: false });
    return {
      text: `UPDATE ${JSON.stringify(assignments)} ${condition?.sql ?? ''}`,
      outcome: updateOf(rows, condition, assignments),
      run: () => operations.update({ condition: parsed, assignments: assignments.map(assignmentOf), alias }),
    };
  }
  const source = state.fresh(1 + below(random, 6));
  const clauses = randomClauses(random);
  const extra = random.next() < 0.3 ? randomCondition(random, 't', 0) : undefined;
  const on = matching(extra);
  return {
    text: `MERGE ${on.sql} ${JSON.stringify(source)} ${JSON.stringify(clauses)}`,
    outcome: mergeInto(rows, source, on, clauses),
    run: async () =>
      operations.merge({
        source: await tables.query(valuesSql(source)),
        targetAlias: alias,
        sourceAlias: 's',
        condition: parseExpression(on.sql),
        clauses: clauses.map(clauseOf),
      }),
  };
}

function matching(extra: ModelCondition | undefined): ModelCondition {
  const same = (t: ModelRow | undefined, s: ModelRow | undefined) => (t?.k === null || s?.k === null ? null : t?.k === s?.k);
  if (extra === undefined) return { sql: 't.k = s.k', holds: same };
  return { sql: `t.k = s.k AND ${extra.sql}`, holds: (t, s) => same(t, s) === true && extra.holds(t, s) === true };
}

function clauseOf(clause: ModelClause): MergeClause {
  const condition = clause.condition === undefined ? {} : { condition: parseExpression(clause.condition.sql) };
  if (clause.on === 'not-matched') return { on: clause.on, action: 'insert', values: 'all', ...condition };
  if (clause.action === 'delete') return { on: clause.on, action: 'delete', ...condition };
  return { on: clause.on, action: 'update', assignments: clause.assignments.map(assignmentOf), ...condition };
}

function assignmentOf({ column, sql }: ModelAssignment): Assignment {
  return { target: [column], value: parseExpression(sql) };
}

function expectedOf(outcome: ModelOutcome | undefined, version: number): unknown {
  if (outcome === undefined) return expect.objectContaining({ errorClass: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE' });
  const { updated, deleted, inserted } = outcome;
  const affected = updated + deleted + inserted;
  return {
    version: affected === 0 ? undefined : version + 1,
    affectedRows: BigInt(affected),
    updatedRows: BigInt(updated),
    deletedRows: BigInt(deleted),
    insertedRows: BigInt(inserted),
  };
}

function valuesSql(rows: readonly ModelRow[]): string {
  const text = (value: string | null): string => (value === null ? 'NULL' : tables.text(value));
  const values = rows.map(({ id, k, v, p }) => `(${id}, ${k ?? 'CAST(NULL AS INTEGER)'}, ${text(v)}, ${text(p)})`);
  return `SELECT CAST(id AS INTEGER) AS id, CAST(k AS INTEGER) AS k, CAST(v AS VARCHAR) AS v, CAST(p AS VARCHAR) AS p FROM (VALUES ${values.join(', ')}) r(id, k, v, p)`;
}
