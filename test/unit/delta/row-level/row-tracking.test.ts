import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { highWaterMark } from '../../../../src/delta/transaction/row-tracking.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import { LocalTables } from '../../../support/local-tables.ts';
import { type TrackedRow, trackedRows } from '../../../support/tracked-rows.ts';

const tracking = { 'delta.enableRowTracking': 'true' };
const vectors = { ...tracking, 'delta.enableDeletionVectors': 'true' };

describe('row tracking', () => {
  let tables: LocalTables;

  beforeAll(async () => {
    tables = await LocalTables.open();
  });

  afterAll(async () => {
    await tables.close();
  });

  const rowsOf = (table: DeltaTable): Promise<ReadonlyMap<bigint, TrackedRow>> => trackedRows(tables.engine, table);
  const filled = async (name: string, properties: Readonly<Record<string, string>>): Promise<DeltaTable> => {
    const table = await tables.create(name, 'id BIGINT, v STRING, g INT', { properties });
    for (const from of [0, 10, 20]) {
      await tables.append(table, `SELECT i AS id, 'v' || i AS v, CAST(i % 3 AS INT) AS g FROM range(${from}, ${from + 10}) t(i)`);
    }
    return table;
  };

  it('gives rows ids and versions by their file until they move', async () => {
    const table = await filled('fresh', tracking);
    const rows = await rowsOf(table);
    expect(rows.get(0n)).toEqual({ rowId: 0n, commitVersion: 1n, value: 'v0' });
    expect(rows.get(15n)).toEqual({ rowId: 15n, commitVersion: 2n, value: 'v15' });
    expect(new Set([...rows.values()].map(({ rowId }) => rowId)).size).toBe(30);
  });

  describe.each([
    ['copy on write', tracking],
    ['deletion vectors', vectors],
    ['a change feed', { ...tracking, 'delta.enableChangeDataFeed': 'true' }],
    ['columns mapped by name', { ...tracking, 'delta.columnMapping.mode': 'name' }],
    ['columns mapped by id', { ...tracking, 'delta.columnMapping.mode': 'id' }],
  ])('with %s', (label, properties) => {
    const name = label.replaceAll(' ', '-');

    it('keeps the id of an updated row, which then belongs to the version that updated it, and all of the others', async () => {
      const table = await filled(`update-${name}`, properties);
      const before = await rowsOf(table);
      const { version } = await table.operations.update({
        condition: parseExpression('g = 1'),
        assignments: [{ target: ['v'], value: parseExpression("concat(v, '!')") }],
      });
      const after = await rowsOf(table);
      expect(after).toEqual(
        new Map(
          [...before].map(([id, row]) => [
            id,
            id % 3n === 1n ? { ...row, value: `${row.value}!`, commitVersion: BigInt(version ?? -1) } : row,
          ]),
        ),
      );
    });

    it('keeps ids and versions of the rows that a DELETE leaves', async () => {
      const table = await filled(`delete-${name}`, properties);
      const before = await rowsOf(table);
      await table.operations.delete({ condition: parseExpression('g = 1') });
      expect(await rowsOf(table)).toEqual(new Map([...before].filter(([id]) => id % 3n !== 1n)));
    });

    it('keeps ids through a MERGE, and gives inserted rows ids nobody had', async () => {
      const table = await filled(`merge-${name}`, properties);
      const before = await rowsOf(table);
      const mark = highWaterMark(await table.refresh());
      const { version } = await table.operations.merge({
        source: await tables.query(`SELECT CAST(i AS BIGINT) AS id, 'merged' AS v, CAST(7 AS INTEGER) AS g FROM range(25, 35) t(i)`),
        targetAlias: 't',
        sourceAlias: 's',
        condition: parseExpression('t.id = s.id'),
        clauses: [
          { on: 'matched', action: 'delete', condition: parseExpression('t.id = 26') },
          { on: 'matched', action: 'update', assignments: 'all' },
          { on: 'not-matched', action: 'insert', values: 'all' },
          {
            on: 'not-matched-by-source',
            action: 'update',
            condition: parseExpression('t.id = 3'),
            assignments: [{ target: ['v'], value: parseExpression("'alone'") }],
          },
        ],
      });
      const after = await rowsOf(table);
      const merged = BigInt(version ?? -1);
      expect(after.size).toBe(34);
      for (const [id, row] of after) {
        const old = before.get(id);
        if (old === undefined) {
          expect(row.rowId).toBeGreaterThan(mark);
          expect(row).toMatchObject({ value: 'merged', commitVersion: merged });
        } else if (id >= 25n) expect(row).toEqual({ ...old, value: 'merged', commitVersion: merged });
        else expect(row).toEqual(id === 3n ? { ...old, value: 'alone', commitVersion: merged } : old);
      }
      expect(new Set([...after.values()].map(({ rowId }) => rowId)).size).toBe(after.size);
    });

    it('keeps ids and versions through OPTIMIZE, Z-order, RESTORE and a rewrite of what is rewritten already', async () => {
      const table = await filled(`optimize-${name}`, properties);
      await table.operations.update({
        condition: parseExpression('id = 4'),
        assignments: [{ target: ['v'], value: parseExpression("'x'") }],
      });
      await table.operations.delete({ condition: parseExpression('id = 5') });
      const before = await rowsOf(table);
      await table.operations.optimize({});
      expect(await rowsOf(table)).toEqual(before);
      await table.operations.optimize({ zOrderBy: ['g', 'id'], targetFileBytes: 1_000 });
      expect((await table.refresh()).fileCount).toBeGreaterThan(1);
      expect(await rowsOf(table)).toEqual(before);
      const { version } = await table.refresh();
      await table.operations.update({ assignments: [{ target: ['v'], value: parseExpression("'gone'") }] });
      await table.operations.restore({ version });
      expect(await rowsOf(table)).toEqual(before);
    });

    it('keeps ids of the rows that a partial overwrite leaves', async () => {
      const table = await filled(`replace-${name}`, properties);
      const before = await rowsOf(table);
      const mark = highWaterMark(await table.refresh());
      await table.operations.write({
        rows: await tables.query(`SELECT CAST(100 AS BIGINT) AS id, 'new' AS v, CAST(1 AS INTEGER) AS g`),
        mode: { kind: 'overwrite', replaceWhere: parseExpression('g = 1') },
      });
      const after = await rowsOf(table);
      expect(after.get(100n)?.rowId).toBeGreaterThan(mark);
      expect(new Map([...after].filter(([id]) => id < 100n))).toEqual(new Map([...before].filter(([id]) => id % 3n !== 1n)));
    });
  });

  it('keeps every id through a long random mixture of operations', async () => {
    const seed = Number(process.env['ROW_TRACKING_SEED'] ?? Date.now() % 1_000_000);
    const random = new SeededRandom(seed);
    const pick = (limit: number): number => Math.floor(random.next() * limit);
    for (const [name, properties] of [
      ['mixed', tracking],
      ['mixed-vectors', vectors],
    ] as const) {
      const table = await filled(name, properties);
      let next = 100;
      let model = await rowsOf(table);
      for (let step = 0; step < 12; step++) {
        const residue = pick(5);
        const mark = highWaterMark(await table.refresh());
        const touches = (id: bigint): boolean => id % 5n === BigInt(residue);
        const condition = parseExpression(`id % 5 = ${residue}`);
        const kind = pick(4);
        if (kind === 0) await table.operations.delete({ condition: parseExpression(`id % 25 = ${residue}`) });
        else if (kind === 1)
          await table.operations.update({ condition, assignments: [{ target: ['v'], value: parseExpression(`'s${step}'`) }] });
        else if (kind === 2) await table.operations.optimize(pick(2) === 0 ? {} : { zOrderBy: ['v'], targetFileBytes: 2_000 });
        else await tables.append(table, `SELECT ${next++} AS id, 'a' AS v, 0 AS g FROM range(1)`);
        const { version } = await table.refresh();
        const after = await rowsOf(table);
        for (const [id, row] of after) {
          const old = model.get(id);
          if (old === undefined) expect(row.rowId, `seed ${seed} step ${step} row ${id}`).toBeGreaterThan(mark);
          else if (kind === 1 && touches(id)) expect(row).toEqual({ rowId: old.rowId, value: `s${step}`, commitVersion: BigInt(version) });
          else expect(row, `seed ${seed} step ${step} row ${id}`).toEqual(old);
        }
        const lost = [...model.keys()].filter((id) => !after.has(id));
        expect(lost, `seed ${seed} step ${step}`).toEqual(kind === 0 ? [...model.keys()].filter((id) => id % 25n === BigInt(residue)) : []);
        model = after;
      }
    }
  });

  it('keeps ids when tracking is switched on later', async () => {
    const table = await tables.create('later', 'id BIGINT, v STRING, g INT');
    await tables.append(table, `SELECT i AS id, 'v' AS v, 0 AS g FROM range(10) t(i)`);
    await table.operations.alter({ kind: 'set-properties', properties: tracking });
    const before = await rowsOf(table);
    expect([...before.values()].every(({ rowId }) => rowId >= 0n)).toBe(true);
    await table.operations.delete({ condition: parseExpression('id = 3') });
    expect(await rowsOf(table)).toEqual(new Map([...before].filter(([id]) => id !== 3n)));
  });

  it('keeps the names of its columns when the table is restored to a time before it tracked rows', async () => {
    const table = await tables.create('names', 'id BIGINT, v STRING, g INT');
    await tables.append(table, `SELECT i AS id, 'v' AS v, 0 AS g FROM range(10) t(i)`);
    await table.operations.alter({ kind: 'set-properties', properties: tracking });
    await table.operations.delete({ condition: parseExpression('id = 3') });
    const before = await rowsOf(table);
    const { version, properties } = await table.refresh();
    const key = 'delta.rowTracking.materializedRowIdColumnName';
    await table.operations.restore({ version: 1 as typeof version });
    expect((await table.refresh()).properties[key]).toBe(properties[key]);
    await table.operations.restore({ version });
    expect(await rowsOf(table)).toEqual(before);
  });

  it('keeps statistics and rows free of the hidden columns', async () => {
    const table = await filled('hidden', tracking);
    await table.operations.optimize({});
    const snapshot = await table.refresh();
    const [file] = [...snapshot.files()];
    expect(file?.stats).not.toContain('_row-');
    expect(Object.keys(JSON.parse((await tables.rows(table))[0] ?? '{}') as object)).toEqual(['id', 'v', 'g']);
    const path = tables.text(tables.path(`hidden/${file?.storedPath ?? ''}`));
    const [[columns] = []] = await tables.engine.rows(`SELECT count(*) FROM (DESCRIBE SELECT * FROM read_parquet(${path}))`);
    expect(columns).toBe(5n);
  });
});
