import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomInt } from '../../src/base/random.ts';
import { SeededRandom } from '../../src/base/seeded-random.ts';
import { privateRestCatalog, type TestRestCatalog } from '../support/rest-catalog.ts';
import type { PrivateServer } from '../support/servers.ts';
import { sortedLines } from './oracle.ts';
import { enginesMissing } from './support/engine-bench.ts';
import {
  type CatalogTable,
  fullName,
  type IcebergBench,
  icebergBench,
  linesOf,
  restCatalog,
  type SharedCatalog,
  sqliteCatalog,
} from './support/iceberg-bench.ts';

/*
 * Ours, Spark and pyiceberg change one table in turns, through a catalog that all of them share. After each round every engine must read the
 * rows of a model. Then all append at the same time: no row may be lost.
 */

const timeoutMs = 600_000;
const changes = ['append', 'update', 'delete', 'merge', 'compact', 'append'] as const;

type Writer = 'ours' | 'spark' | 'pyiceberg';

interface Turn {
  readonly writer: Writer;
  readonly change: (typeof changes)[number];
  /** Rows appended or merged: this and the next ids. */
  readonly firstId: number;
  readonly rows: number;
  /** Rows whose id leaves `remainder` when divided by `divisor` are updated or deleted. */
  readonly divisor: number;
  readonly remainder: number;
}

interface Course {
  readonly catalog: 'lake' | 'rest';
  readonly version: 2 | 3;
  readonly rounds: number;
  readonly writers: readonly Writer[];
}

// pyiceberg writes nothing of format 3.
const courses: readonly Course[] = [
  { catalog: 'lake', version: 2, rounds: 10, writers: ['ours', 'pyiceberg', 'spark'] },
  { catalog: 'lake', version: 3, rounds: 8, writers: ['ours', 'spark'] },
  { catalog: 'rest', version: 2, rounds: 6, writers: ['ours', 'pyiceberg', 'spark'] },
];

describe.skipIf(enginesMissing)('engines that write one Iceberg table', () => {
  let rest: PrivateServer<TestRestCatalog> | undefined;
  beforeAll(async () => {
    rest = await privateRestCatalog();
  }, timeoutMs);
  afterAll(async () => {
    await rest?.[Symbol.asyncDispose]();
  });
  const bench = icebergBench((directory): readonly SharedCatalog[] => [
    sqliteCatalog(directory),
    ...(rest === undefined ? [] : [restCatalog(rest.server)]),
  ]);

  it.each(courses)(
    'leave the rows of the model after each turn ($catalog, format $version)',
    async ({ catalog: name, version, rounds, writers }) => {
      const catalog = bench().catalogs.find((candidate) => candidate.name === name);
      if (catalog === undefined) return;
      const table = bench().table('ours', `turns_${name}_${version}`, catalog);
      const seed = Number(process.env['ENGINES_SEED'] ?? '5');
      const random = new SeededRandom(seed);
      await bench().session.sql(
        `CREATE TABLE ${fullName(table)} (id BIGINT, v BIGINT, p STRING) USING iceberg PARTITIONED BY (p) TBLPROPERTIES ('format-version' = '${version}',
          'write.delete.mode' = 'merge-on-read', 'write.update.mode' = 'merge-on-read', 'write.merge.mode' = 'merge-on-read')`,
      );
      const model = new Map<number, number>();
      for (let round = 0; round < rounds; round += 1) {
        const turn = turnOf(random, round, writers);
        applyToModel(model, turn);
        await apply(bench(), table, turn);
        await expectRows(bench(), table, { label: `seed ${seed}, round ${round}: ${JSON.stringify(turn)}`, model });
      }
      await expectSameHistory(bench(), table);
      await bench().expectSound(table.path);
      await appendTogether(bench(), table, { writers, model });
    },
    timeoutMs,
  );
});

async function expectRows(
  bench: IcebergBench,
  table: CatalogTable,
  { label, model }: { readonly label: string; readonly model: ReadonlyMap<number, number> },
): Promise<void> {
  const expected = [label, ...sortedLines([...model].map(([id, v]) => ({ id, v, p: `p${id % 3}` })))];
  const read = await Promise.all([
    bench.ours(`SELECT * FROM ${fullName(table)}`),
    ...(['pyiceberg', 'duckdb', 'spark'] as const).map(async (engine) => {
      const [reading] = await bench.read(engine, [{ what: 'rows', path: engine === 'spark' ? fullName(table) : table.path }]);
      return linesOf(reading);
    }),
  ]);
  for (const [index, lines] of read.entries()) expect([label, ...lines], ['ours', 'pyiceberg', 'duckdb', 'spark'][index]).toEqual(expected);
}

async function expectSameHistory(bench: IcebergBench, table: CatalogTable): Promise<void> {
  const query = `SELECT * FROM ${fullName(table)}.snapshots`;
  expect(await bench.ours(query)).toEqual(await bench.spark(query));
}

const appends = 4;

/** Every writer appends some rows, all at once. */
async function appendTogether(
  bench: IcebergBench,
  table: CatalogTable,
  { writers, model }: { readonly writers: readonly Writer[]; readonly model: Map<number, number> },
): Promise<void> {
  const turns = writers.flatMap((writer, index) =>
    Array.from(
      { length: appends },
      (_, place): Turn => ({ writer, change: 'append', firstId: 1000 * (index + 1) + 10 * place, rows: 2, divisor: 1, remainder: 0 }),
    ),
  );
  for (const turn of turns) applyToModel(model, turn);
  await Promise.all(
    writers.map(async (writer) => {
      for (const turn of turns) if (turn.writer === writer) await apply(bench, table, turn);
    }),
  );
  await expectRows(bench, table, { label: 'appended together', model });
  await expectSameHistory(bench, table);
}

function turnOf(random: SeededRandom, round: number, writers: readonly Writer[]): Turn {
  const divisor = 2 + randomInt(random, 5);
  return {
    // In order, so that every writer meets what each other one left.
    writer: writers[round % writers.length] ?? 'ours',
    change: round === 0 ? 'append' : (changes[randomInt(random, changes.length)] ?? 'append'),
    firstId: round * 10,
    rows: 3 + randomInt(random, 7),
    divisor,
    remainder: randomInt(random, divisor),
  };
}

function applyToModel(model: Map<number, number>, { change, firstId, rows, divisor, remainder }: Turn): void {
  if (change === 'append') for (let id = firstId; id < firstId + rows; id += 1) model.set(id, id);
  // Half of the merged rows are there already.
  if (change === 'merge') for (let id = firstId - rows; id < firstId + rows; id += 1) model.set(id, -id);
  for (const [id, v] of model) {
    if (id % divisor !== remainder) continue;
    if (change === 'update') model.set(id, v + 1);
    if (change === 'delete') model.delete(id);
  }
}

async function apply(bench: IcebergBench, table: CatalogTable, turn: Turn): Promise<void> {
  if (turn.writer === 'pyiceberg') {
    await applyWithPyiceberg(bench, table, turn);
    return;
  }
  const statement = statementOf(table, turn);
  if (turn.writer === 'ours') await bench.session.sql(statement);
  else await bench.oracle.sql(statement);
}

function statementOf(table: CatalogTable, { change, firstId, rows, divisor, remainder }: Turn): string {
  const name = fullName(table);
  switch (change) {
    case 'append':
      return `INSERT INTO ${name} SELECT id, id AS v, concat('p', id % 3) AS p FROM range(${firstId}, ${firstId + rows})`;
    case 'update':
      return `UPDATE ${name} SET v = v + 1 WHERE id % ${divisor} = ${remainder}`;
    case 'delete':
      return `DELETE FROM ${name} WHERE id % ${divisor} = ${remainder}`;
    case 'merge':
      return `MERGE INTO ${name} t USING (SELECT id, -id AS v, concat('p', id % 3) AS p FROM range(${firstId - rows}, ${firstId + rows})) s ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT *`;
    case 'compact':
      return `CALL ${table.catalog.name}.system.rewrite_data_files(table => '${table.name}', options => map('rewrite-all', 'true'))`;
  }
}

/** pyiceberg has no predicates with arithmetic and no compaction: it deletes and updates by the ids, and adds a property instead. */
async function applyWithPyiceberg(bench: IcebergBench, table: CatalogTable, turn: Turn): Promise<void> {
  const { change, firstId, rows } = turn;
  const ids = (from: number, until: number): readonly number[] => Array.from({ length: until - from }, (_, index) => from + index);
  const rowOf = (id: number, v: number): Readonly<Record<string, unknown>> => ({ id, v, p: `p${id % 3}` });
  switch (change) {
    case 'append':
      await bench.pyiceberg(table, { op: 'append', rows: ids(firstId, firstId + rows).map((id) => rowOf(id, id)) });
      return;
    case 'merge':
      await bench.pyiceberg(table, { op: 'upsert', keys: ['id'], rows: ids(firstId - rows, firstId + rows).map((id) => rowOf(id, -id)) });
      return;
    case 'update':
    case 'delete': {
      const touched = await bench.collect(`SELECT * FROM ${fullName(table)} WHERE id % ${turn.divisor} = ${turn.remainder}`);
      if (touched.length === 0) return;
      const filter = `id in (${touched.map(({ id }) => String(id)).join(', ')})`;
      if (change === 'delete') await bench.pyiceberg(table, { op: 'delete', filter });
      else await bench.pyiceberg(table, { op: 'overwrite', filter, rows: touched.map((row) => ({ ...row, v: Number(row['v']) + 1 })) });
      return;
    }
    case 'compact':
      await bench.pyiceberg(table, { op: 'set_properties', properties: { turned: String(firstId) } });
  }
}
