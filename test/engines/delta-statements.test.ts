import { describe, expect, it } from 'vitest';
import { sortedLines } from './oracle.ts';
import { canonicalRow } from './support/canonical-rows.ts';
import { type EngineBench, engineBench, enginesMissing } from './support/engine-bench.ts';
import { type StatementScript, statementScripts } from './support/statement-scripts.ts';

/*
 * Our session and Spark execute the same statements, each on a table of its own. Both tables must hold the same rows, versions and changes,
 * whoever reads them; ours must keep the rules of the protocol.
 */

describe.skipIf(enginesMissing)('statements of ours and of Spark', () => {
  const bench = engineBench();

  it.each(statementScripts)('do the same: $title', async (script) => {
    const here = bench();
    const { ours, theirs } = await execute(here, script);
    const lines = await here.expectAgreement(ours, { refusals: script.refusals, leftOut: script.faults });
    for (const engine of script.faults ?? []) await here.expectSameFault(engine, ours, theirs);
    expect(await here.lines('spark', theirs)).toEqual(lines);
    expect(await here.lines('ours', theirs)).toEqual(lines);
    expect(await columns(here, ours)).toEqual(await columns(here, theirs));
    const operations = await here.operations('spark', theirs);
    expect(await here.operations('spark', ours)).toEqual(operations);
    expect(await here.operations('ours', ours)).toEqual(operations);
    expect(await here.operations('ours', theirs)).toEqual(operations);
    for (const path of [ours, theirs]) await expectSamePlaces(here, path);
    if (script.changesFrom !== undefined) await expectSameChanges(here, script, { ours, theirs });
  });
});

interface Tables {
  readonly ours: string;
  readonly theirs: string;
}

async function execute(bench: EngineBench, { title, given = [], statements }: StatementScript): Promise<Tables> {
  const name = title.replaceAll(/\W+/g, '-');
  const ours = bench.path(name, 'ours');
  const theirs = bench.path(name, 'spark');
  const filled = (text: string, path: string): string =>
    text.replaceAll('{t}', `delta.\`${path}\``).replaceAll('{s}', `delta.\`${path}-source\``).replaceAll('{path}', path);
  if (given.length > 0) for (const path of [ours, theirs]) await bench.oracle.sql(...given.map((statement) => filled(statement, path)));
  const executed = bench.oracle.sql(...statements.map((statement) => filled(statement, theirs)));
  const here = async (): Promise<void> => {
    for (const statement of statements) await bench.session.sql(filled(statement, ours));
  };
  await Promise.all([here(), executed]);
  return { ours, theirs };
}

async function expectSameChanges(bench: EngineBench, script: StatementScript, { ours, theirs }: Tables): Promise<void> {
  const from = script.changesFrom ?? 0;
  const changes = await bench.changeLines('ours', ours, from);
  expect(changes.length).toBeGreaterThan(0);
  expect(await bench.changeLines('spark', ours, from)).toEqual(changes);
  expect(await bench.changeLines('spark', theirs, from)).toEqual(changes);
  expect(await bench.changeLines('ours', theirs, from)).toEqual(changes);
  if (script.feedRefusedByDeltaRs === undefined) expect(await bench.changeLines('delta-rs', ours, from)).toEqual(changes);
  else await expect(bench.changeLines('delta-rs', ours, from)).rejects.toThrow(script.feedRefusedByDeltaRs);
}

/** Where rows lie and, where the table tracks them, what they are known by. */
async function expectSamePlaces(bench: EngineBench, path: string): Promise<void> {
  const table = `delta.\`${path}\``;
  const members = ['file_path', 'file_name', 'file_size', 'file_block_start', 'file_block_length', 'file_modification_time'];
  const properties = await (await bench.session.sql(`SHOW TBLPROPERTIES ${table}`)).collect();
  const enabled = (key: string): boolean => properties.some((row) => row['key'] === key && row['value'] === 'true');
  const tracked = enabled('delta.enableRowTracking');
  if (tracked) members.push('row_id', 'base_row_id', 'default_row_commit_version', 'row_commit_version');
  if (tracked || enabled('delta.enableDeletionVectors')) members.push('row_index');
  const query = `SELECT ${members.map((member) => `_metadata.${member}`).join(', ')} FROM ${table}`;
  const ours = (await (await bench.session.sql(query)).collect()).map(canonicalRow);
  expect(sortedLines(ours)).toEqual(sortedLines(await bench.oracle.sql(query)));
}

async function columns(bench: EngineBench, path: string): Promise<readonly unknown[]> {
  return (await bench.oracle.schema('spark', path)).map(({ name, type, nullable }) => ({ name, type, nullable }));
}
