import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProduct } from '../support/process.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { type Engines, missingTool, obtainEngines } from './engines.ts';

/*
 * The table that `npm start` makes, read by engines that share no code with us: rows, history and change feed must be ours, and the
 * table must keep the rules of the protocol.
 */

const config = join(resolve(fileURLToPath(new URL('../..', import.meta.url))), 'config', 'development.yaml');
const missing = await missingTool();
const setUpMs = 900_000;

if (missing !== undefined && process.env['CI'] !== undefined) throw new Error(`other engines cannot be tested: ${missing} is missing`);
if (missing !== undefined) console.error(`SKIPPED: ${missing} is missing, NO other engine has read our tables`);

type Row = Readonly<Record<string, unknown>>;

describe.skipIf(missing !== undefined)('the table of the demonstration', () => {
  const dir = temporaryDirectory('engines');
  const table = join(dir, 'tables', 'flights');
  let engines: Engines;
  let changes: readonly Row[];
  let history: readonly Row[];

  beforeAll(async () => {
    engines = await obtainEngines();
    // Servers of its own: the topics of the demonstration have fixed names. Small batches, so that there are versions to travel to.
    const env = { KAFKA_BROKERS: '', REDIS_URL: '', TIDEWATER__dataDir: dir, TIDEWATER__ingest__maxBatchRows: '1500' };
    const product = async (...args: string[]): Promise<string> => {
      const ran = await runProduct({ config, args, env });
      if (ran.code !== 0) throw new Error(`${args.join(' ')} ended with ${String(ran.code)}:\n${ran.log}`);
      return ran.stdout;
    };
    await product('serve', '--demo', '--once', '--json');
    await product('maintain', 'compact', 'flights');
    await product('maintain', 'checkpoint', 'flights');
    changes = parseLines(await product('changes', 'tail', 'flights', '--from-version', '0', '--json'));
    history = parseLines(await product('history', 'flights', '--limit', '100000', '--json'));
  }, setUpMs);
  afterAll(() => {
    removeDirectory(dir);
  });

  it.each(['delta-rs', 'spark'] as const)('has the same rows, history and changes in %s', async (engine) => {
    const out = join(dir, engine);
    await engines.script('read_table.py', [engine, table, out]);
    expectSame(read(out, 'rows'), changes.map(withoutChangeColumns));
    expectSame(read(out, 'changes').map(withoutCommitTime), changes.map(withoutCommitTime));
    expectSame(
      read(out, 'history'),
      history.map(({ version, operation }) => ({ version, operation })),
    );
  });

  it('has the same rows in DuckDB', async () => {
    const out = join(dir, 'duckdb');
    await engines.script('read_table.py', ['duckdb', table, out]);
    expectSame(read(out, 'rows'), changes.map(withoutChangeColumns));
  });

  it('has the rows of an older version in every engine', async () => {
    const version = Math.floor(Math.max(...changes.map((row) => Number(row['_commit_version']))) / 2);
    const expected = changes.filter((row) => Number(row['_commit_version']) <= version).map(withoutChangeColumns);
    for (const engine of ['delta-rs', 'duckdb']) {
      const out = join(dir, `${engine}-${version}`);
      await engines.script('read_table.py', [engine, table, out, String(version)]);
      expectSame(read(out, 'rows'), expected);
    }
  });

  it('keeps the rules of the protocol, with true statistics', async () => {
    const report = parseLines(await engines.script('check_table.py', [table])).at(-1);
    expect(report).toMatchObject({ violations: 0, versions: history.length });
    expect(Number(report?.['checkpoints'])).toBeGreaterThan(0);
    expect(Number(report?.['rewrites'])).toBeGreaterThan(0);
  });

  function read(out: string, name: string): readonly Row[] {
    return parseLines(readFileSync(join(out, `${name}.jsonl`), 'utf8'));
  }
});

/** Equal as multisets. The first differences are shown, not tens of thousands of rows. */
function expectSame(actual: readonly Row[], expected: readonly Row[]): void {
  const [left, right] = [actual.map(canonical).sort(), expected.map(canonical).sort()];
  const differing = left.findIndex((line, index) => line !== right[index]);
  if (differing >= 0) expect(left[differing]).toEqual(right[differing]);
  expect(left.length).toBe(right.length);
  expect(left.length).toBeGreaterThan(0);
}

function canonical(row: Row): string {
  return JSON.stringify(Object.entries(row).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function withoutCommitTime(row: Row): Row {
  return without(row, ['_commit_timestamp']);
}

function withoutChangeColumns(row: Row): Row {
  return without(row, ['_change_type', '_commit_version', '_commit_timestamp']);
}

function without(row: Row, names: readonly string[]): Row {
  return Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));
}

function parseLines(text: string): readonly Row[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Row);
}
