import { describe, expect, it } from 'vitest';
import { enginesMissing } from './support/engine-bench.ts';
import { expectSameHistory, expectSamePlaces, readersAgree } from './support/iceberg-agreement.ts';
import {
  type CatalogTable,
  fullName,
  type IcebergBench,
  icebergBench,
  linesOf,
  needsHistory,
  sqliteCatalog,
} from './support/iceberg-bench.ts';
import { type IcebergScript, icebergScripts } from './support/iceberg-scripts.ts';

/*
 * Our session and Spark execute the same statements, each on a table of its own. Both tables must hold the same rows, columns with the same
 * ids, snapshots and references, whoever reads them; ours must keep the rules of the format.
 */

describe.skipIf(enginesMissing)('statements of ours and of Spark on Iceberg tables', () => {
  const bench = icebergBench((directory) => [sqliteCatalog(directory)]);

  it.each(icebergScripts.map((script) => [script.title, script] as const))('do the same: %s', async (_title, script) => {
    const here = bench();
    const { ours, theirs } = await execute(here, script);
    const lines = await readersAgree(here, ours, script);
    expect(await here.ours(`SELECT * FROM ${fullName(theirs)}`)).toEqual(lines);
    const [rows] = await here.read('spark', [{ what: 'rows', path: fullName(theirs) }]);
    expect(linesOf(rows)).toEqual(lines);
    await expectSameHistory(here, { ours, theirs }, script);
    for (const table of [ours, theirs]) await expectSamePlaces(here, table, script);
    await here.expectSound(ours.path);
  });
});

interface Tables {
  readonly ours: CatalogTable;
  readonly theirs: CatalogTable;
}

async function execute(bench: IcebergBench, { title, statements }: IcebergScript): Promise<Tables> {
  const name = title.replaceAll(/\W+/g, '_');
  const [ours, theirs] = [bench.table('ours', name), bench.table('theirs', name)];
  const here = async (): Promise<void> => {
    for (const statement of statements) await bench.session.sql(await bench.filled(statement, ours));
  };
  const there = async (): Promise<void> => {
    for (const batch of batches(statements)) {
      await bench.oracle.sql(...(await Promise.all(batch.map((statement) => bench.filled(statement, theirs)))));
    }
  };
  await Promise.all([here(), there()]);
  return { ours, theirs };
}

/** Statements that need the history of those before them begin a batch. */
function batches(statements: readonly string[]): readonly (readonly string[])[] {
  const made: string[][] = [];
  for (const statement of statements) {
    const last = made.at(-1);
    if (last === undefined || needsHistory(statement)) made.push([statement]);
    else last.push(statement);
  }
  return made;
}
