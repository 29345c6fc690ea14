import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomInt } from '../../../../src/base/random.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import type { DeltaTable } from '../../../../src/delta/delta-table.ts';
import { parseExpression } from '../../../../src/expr/parse/parse-expression.ts';
import type { WriteMode } from '../../../../src/table/row-operations.ts';
import { toVersion } from '../../../../src/table/version.ts';
import { LocalTables } from '../../../support/local-tables.ts';

/** A row of the model; members that are absent are null. */
interface Row {
  readonly id: number;
  readonly p: string | null;
  readonly v: number | null;
  readonly extra?: string | undefined;
}

const asked = process.env['SEED'];
const seeds = asked === undefined || asked === '' ? [1, 2, 3] : [Number(asked)];
const partitions: readonly (string | null)[] = ['a', 'b/c', 'ü 50%', null];
let tables: LocalTables;

beforeAll(async () => {
  tables = await LocalTables.open();
});
afterAll(async () => {
  await tables.close();
});

/** What a write does to rows, by the words of its mode. */
function written(rows: readonly Row[], added: readonly Row[], mode: Step): readonly Row[] {
  switch (mode.kind) {
    case 'append':
      return [...rows, ...added];
    case 'overwrite':
      return added;
    case 'replace-partition':
      return [...rows.filter((row) => row.p !== mode.p), ...added];
    case 'replace-range':
      return [...rows.filter((row) => !(row.v !== null && row.v < mode.below)), ...added];
    case 'partitions': {
      const touched = new Set(added.map((row) => row.p));
      return [...rows.filter((row) => !touched.has(row.p)), ...added];
    }
  }
}

type Step =
  | { readonly kind: 'append' }
  | { readonly kind: 'overwrite' }
  | { readonly kind: 'replace-partition'; readonly p: string }
  | { readonly kind: 'replace-range'; readonly below: number }
  | { readonly kind: 'partitions' };

function modeOf(step: Step): WriteMode {
  switch (step.kind) {
    case 'replace-partition':
      return { kind: 'overwrite', replaceWhere: parseExpression(`p = '${step.p}'`) };
    case 'replace-range':
      return { kind: 'overwrite', replaceWhere: parseExpression(`v < ${step.below}`) };
    case 'partitions':
      return { kind: 'overwrite-partitions' };
    default:
      return { kind: step.kind };
  }
}

function stepOf(random: SeededRandom): Step {
  const choice = randomInt(random, 10);
  if (choice < 5) return { kind: 'append' };
  if (choice === 5) return { kind: 'overwrite' };
  if (choice === 6) return { kind: 'replace-partition', p: 'b/c' };
  if (choice < 9) return { kind: 'replace-range', below: randomInt(random, 100) };
  return { kind: 'partitions' };
}

function rowsOf(random: SeededRandom, step: Step, firstId: number): readonly Row[] {
  return Array.from({ length: 1 + randomInt(random, 5) }, (_, index): Row => {
    const v = randomInt(random, 6) === 0 ? null : randomInt(random, 100);
    const p = partitions[randomInt(random, partitions.length)] ?? null;
    return {
      id: firstId + index,
      p: step.kind === 'replace-partition' ? step.p : p,
      v: step.kind === 'replace-range' ? Math.min(v ?? 0, step.below - 1) : v,
      ...(randomInt(random, 4) === 0 ? { extra: `x${index}` } : {}),
    };
  });
}

function valuesOf(rows: readonly Row[]): string {
  const text = (value: string | null | undefined): string => (value === null || value === undefined ? 'NULL' : `'${value}'`);
  const values = rows.map((row) => `(${row.id}, ${text(row.p)}, ${row.v ?? 'NULL'}, ${text(row.extra)})`);
  return `SELECT id::INTEGER AS id, p::VARCHAR AS p, v::INTEGER AS v, extra::VARCHAR AS extra FROM (VALUES ${values.join(', ')}) r(id, p, v, extra)`;
}

const keyOf = (row: Row): string => JSON.stringify([row.id, row.p, row.v, row.extra ?? null]);
const keysOf = (rows: readonly Row[]): readonly string[] => rows.map(keyOf).sort();

async function rowsAt(table: DeltaTable, version: number): Promise<readonly string[]> {
  const found = await tables.rows(table, toVersion(version));
  return found.map((text) => keyOf(JSON.parse(text) as Row)).sort();
}

/** The rows of `version` once its changes are done to those of the version before. */
async function folded(table: DeltaTable, version: number, before: readonly string[]): Promise<readonly string[]> {
  const rows = [...before];
  const removed: string[] = [];
  for await (const { kind, scan } of table.changeScans({ from: toVersion(version), until: toVersion(version) })) {
    const relation = await tables.engine.scan(scan);
    const type = kind === 'recorded' ? '' : `, '${kind}' AS _change_type`;
    const found = await tables.engine.rows(`SELECT CAST(to_json(r) AS VARCHAR) FROM (SELECT *${type} FROM (${relation.sql})) r`);
    await relation.dispose();
    for (const [text] of found) {
      const change = JSON.parse(String(text)) as Row & { readonly _change_type: string };
      if (change._change_type === 'insert') rows.push(keyOf(change));
      else removed.push(keyOf(change));
    }
  }
  for (const key of removed) {
    const at = rows.indexOf(key);
    expect(at, `row ${key} of version ${version} was deleted and not there`).toBeGreaterThanOrEqual(0);
    rows.splice(at, 1);
  }
  return rows.sort();
}

describe('any sequence of writes', () => {
  it.each(seeds)('gives the rows of the model at every version for ever, and changes that add up (SEED=%i)', async (seed) => {
    const random = new SeededRandom(seed);
    const partitioned = randomInt(random, 3) > 0;
    const table = await tables.create(`t${seed}`, 'id INT, p STRING, v INT', {
      partitionBy: partitioned ? ['p'] : [],
      properties: { 'delta.enableChangeDataFeed': 'true', 'delta.checkpointInterval': '4' },
    });
    const history: (readonly Row[])[] = [[]];
    for (let step = 0, id = 0; step < 12; step += 1) {
      const move = stepOf(random);
      const added = rowsOf(random, move, id);
      id += added.length;
      const rows = await tables.query(valuesOf(added));
      const { version } = await table.operations.write({ rows, mode: modeOf(move), mergeSchema: true });
      const whole = !partitioned && move.kind === 'partitions';
      history.push(written(history.at(-1) ?? [], added, whole ? { kind: 'overwrite' } : move));
      expect(version, `step ${step}, ${move.kind}`).toBe(history.length - 1);
      expect(await rowsAt(table, history.length - 1), `step ${step}, ${move.kind}`).toEqual(keysOf(history.at(-1) ?? []));
    }
    const reopened = await tables.open(table.name);
    for (const [version, rows] of history.entries()) {
      expect(await rowsAt(reopened, version), `version ${version}`).toEqual(keysOf(rows));
      if (version > 0)
        expect(await folded(reopened, version, keysOf(history[version - 1] ?? [])), `changes of ${version}`).toEqual(keysOf(rows));
    }
  });
});
