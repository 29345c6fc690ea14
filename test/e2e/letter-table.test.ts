import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually, ProductProcess, runProduct } from '../support/process.ts';
import { type PipelineCase, type PipelineOptions, Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/* Every letter is a row of the dead-letter table once, killed where dead letters are kept and where that table commits. */

const formats: readonly (readonly [string, PipelineOptions, string])[] = [
  ['a Delta table', {}, ''],
  ['an Iceberg table', { iceberg: { kind: 'sql' } }, ', format: iceberg, catalog: lake'],
];

interface LetterRow {
  readonly letter_partition: number;
  readonly letter_offset: number;
  readonly reason: string;
  readonly table_name: string;
  readonly source_partition: number;
  readonly source_offset: number;
  readonly headers: readonly unknown[];
}

describe('the table of the dead letters', () => {
  const dir = temporaryDirectory('letter-table');
  const workload = new Workload();
  const running: ProductProcess[] = [];
  beforeAll(() => workload.connect());
  afterEach(async () => {
    await Promise.all(running.splice(0).map((started) => started.kill()));
  });
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  const serve = ({ config }: PipelineCase, failpoint = ''): ProductProcess => {
    const started = new ProductProcess({ config, args: ['serve'], env: { FAILPOINT: failpoint } });
    running.push(started);
    return started;
  };

  const untilRows = async (one: ProductProcess, produced: Produced): Promise<void> => {
    const all = async (): Promise<boolean> => {
      if (one.exit !== undefined) throw new Error(`ended with ${JSON.stringify(one.exit)}`);
      return (await one.status()).tables.find(({ name }) => name === 'letters')?.rowCount === produced.poison.size;
    };
    try {
      await eventually('all letters are rows', all, 90_000);
    } catch (error) {
      throw new Error(`${produced.poison.size} letters, ${JSON.stringify((await one.status()).tables)}\n${one.log}`, { cause: error });
    }
  };

  const rowsOf = async ({ config }: PipelineCase): Promise<readonly LetterRow[]> => {
    const { stdout, log } = await runProduct({ config, args: ['rows', 'letters'] });
    try {
      return stdout
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LetterRow);
    } catch (cause) {
      throw new Error(log, { cause });
    }
  };

  it.each(
    formats.flatMap(([what, options, settings]) =>
      ['after-dead-letters:kill:2', 'commit-applied:kill:3'].map((failpoint) => [what, failpoint, options, settings] as const),
    ),
  )(
    'P06: %s has a row of every letter after %s',
    async (_, failpoint, options, settings) => {
      const pipeline = pipelineCase(dir, 'letters', { ...options, partitions: 2 });
      const text = readFileSync(pipeline.config, 'utf8')
        .replace('tables:\n', `tables:\n  - { name: letters${settings} }\n`)
        .replace('deadLetters: { ', 'deadLetters: { table: letters, ');
      writeFileSync(pipeline.config, text);
      await workload.createTopic(pipeline);
      const produced = new Produced(3);
      const first = serve(pipeline, failpoint);
      const until = Date.now() + 60_000;
      while (first.exit === undefined && Date.now() < until) await workload.produce(pipeline, produced, 60);
      expect(await first.exited(), first.log).toMatchObject({ signal: 'SIGKILL' });
      await workload.produce(pipeline, produced, 60);
      const second = serve(pipeline);
      await untilRows(second, produced);
      expect((await second.terminate()).code, second.log).toBe(0);
      const rows = await rowsOf(pipeline);
      const sources = rows.map((row) => `${row.source_partition}:${row.source_offset}`);
      expect(sources.toSorted()).toEqual([...produced.poison].toSorted());
      expect(new Set(rows.map((row) => `${row.letter_partition}:${row.letter_offset}`)).size).toBe(rows.length);
      expect(new Set(rows.map(({ table_name }) => table_name))).toEqual(new Set(['events']));
      expect(rows.every(({ reason, headers }) => reason !== '' && headers.length === 0)).toBe(true);
      const audited = await runProduct({ config: pipeline.config, args: ['audit', 'letters', '--rows', '--json'] });
      expect(JSON.parse(audited.stdout), audited.log).toMatchObject({ rows: rows.length, deadLettered: 0, sound: true });
    },
    180_000,
  );
});
