import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProduct } from '../support/process.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';
import { obtainEngines } from './engines.ts';
import { type CanonicalRow, type IcebergReader, Oracle, sortedLines } from './oracle.ts';
import { enginesMissing } from './support/engine-bench.ts';

/*
 * The table that `npm start -- --format iceberg` makes, read by engines that share no code with us: rows and snapshots must be ours, and the
 * table must keep the rules of the format.
 */

const config = join(resolve(fileURLToPath(new URL('../..', import.meta.url))), 'config', 'development-iceberg.yaml');
const setUpMs = 900_000;

describe.skipIf(enginesMissing)('the Iceberg table of the demonstration', () => {
  const dir = temporaryDirectory('iceberg-demo');
  const table = join(dir, 'tables', 'flights');
  let oracle: Oracle;
  let expected: readonly string[];
  let history: readonly CanonicalRow[];

  beforeAll(async () => {
    oracle = Oracle.start(await obtainEngines());
    // Servers of its own: the topics of the demonstration have fixed names. Small batches, so that there are snapshots to travel to.
    const env = { KAFKA_BROKERS: '', REDIS_URL: '', TIDEWATER__dataDir: dir, TIDEWATER__ingest__maxBatchRows: '3000' };
    const product = async (...args: string[]): Promise<string> => {
      const ran = await runProduct({ config, args, env });
      if (ran.code !== 0) throw new Error(`${args.join(' ')} ended with ${String(ran.code)}:\n${ran.log}`);
      return ran.stdout;
    };
    await product('serve', '--demo', '--once', '--json');
    await product('maintain', 'compact', 'flights');
    const changes = parseLines(await product('changes', 'tail', 'flights', '--from-version', '0', '--json'));
    expected = sortedLines(changes.map(withoutChangeColumns));
    history = parseLines(await product('history', 'flights', '--limit', '100000', '--json'));
  }, setUpMs);
  afterAll(async () => {
    await oracle.stop();
    removeDirectory(dir);
  });

  it.each<IcebergReader>(['pyiceberg', 'duckdb', 'spark'])('has the same rows in %s', async (engine) => {
    const [reading] = await oracle.readIceberg(engine, [{ what: 'rows', path: table }]);
    if (reading === undefined || 'error' in reading) throw new Error(`${engine} refused`, { cause: reading?.error });
    const lines = sortedLines(reading.rows);
    // The first difference is shown, not tens of thousands of rows.
    const differing = lines.findIndex((line, index) => line !== expected[index]);
    if (differing >= 0) expect(lines[differing]).toEqual(expected[differing]);
    expect(lines.length).toBe(expected.length);
    expect(lines.length).toBeGreaterThan(0);
  });

  it('has a snapshot for each version that changed rows or files', async () => {
    const [reading] = await oracle.readIceberg('spark', [{ what: 'history', path: table }]);
    if (reading === undefined || 'error' in reading) throw new Error('Spark refused', { cause: reading?.error });
    expect(reading.rows.length).toBeGreaterThan(3);
    expect(reading.rows.length).toBe(history.length);
    expect(reading.rows.map((row) => row['operation'])).toContain('replace');
  });

  it('keeps the rules of the format, with true statistics', async () => {
    expect(await oracle.check(table, { format: 'iceberg', allowOrphans: true })).toEqual([]);
  });
});

function withoutChangeColumns(row: CanonicalRow): CanonicalRow {
  const added = ['_change_type', '_commit_version', '_commit_timestamp'];
  return Object.fromEntries(Object.entries(row).filter(([name]) => !added.includes(name)));
}

function parseLines(text: string): readonly CanonicalRow[] {
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as CanonicalRow);
}
