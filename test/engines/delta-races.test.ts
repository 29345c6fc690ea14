import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EngineBench, engineBench, enginesMissing } from './support/engine-bench.ts';
import { RacingProcess } from './support/racing-process.ts';

/*
 * Writers that share nothing but the table's directory commit at the same time: no commit is lost, none is applied twice, and the log has
 * no gap. On local disks Spark looks for a version's file before it renames its own there, so a commit of another engine in between would be
 * replaced; the window is some microseconds.
 */

const commitsOfOurs = 30;
const commitsOfSpark = 20;

describe.skipIf(enginesMissing)('writers of one table at the same time', () => {
  const bench = engineBench();
  let one: RacingProcess;
  let other: RacingProcess;

  beforeAll(() => {
    one = RacingProcess.start();
    other = RacingProcess.start();
  });
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()]);
  });

  it('all commit when two processes of ours append', async () => {
    const path = await createTable(bench(), 'appends');
    const task = { path, what: 'append', count: commitsOfOurs } as const;
    const results = await Promise.all([one.run({ ...task, writer: 1 }), other.run({ ...task, writer: 2 })]);
    expect(results).toEqual([
      { done: commitsOfOurs, lost: [] },
      { done: commitsOfOurs, lost: [] },
    ]);
    await expectAppends(bench(), path, { 1: commitsOfOurs, 2: commitsOfOurs });
  });

  it('commit one after the other when two processes of ours update one file: the loser learns what it lost against', async () => {
    const path = await createTable(bench(), 'updates');
    await bench().session.sql(`INSERT INTO delta.\`${path}\` VALUES (0, 0)`);
    const task = { path, what: 'increment', writer: 0, count: commitsOfOurs } as const;
    const results = await Promise.all([one.run(task), other.run(task)]);
    const lost = results.flatMap((result) => result.lost);
    expect(lost.length).toBeGreaterThan(0);
    expect(new Set(lost)).toEqual(new Set(lost.filter((name) => /^Concurrent(Append|DeleteRead|DeleteDelete)Exception$/.test(name))));
    expect(await bench().expectAgreement(path, { allowOrphans: true })).toEqual([`{"n":${2 * commitsOfOurs},"writer":0}`]);
    expect(versionsInLog(path)).toEqual(upTo(2 * commitsOfOurs + 1));
  });

  it('all commit when delta-rs and ours append', async () => {
    const path = await createTable(bench(), 'with-delta-rs');
    const [ours] = await Promise.all([
      one.run({ path, what: 'append', writer: 1, count: commitsOfOurs }),
      bench().oracle.deltaRs(path, { op: 'append_many', writer: 2, count: commitsOfOurs }),
    ]);
    expect(ours).toEqual({ done: commitsOfOurs, lost: [] });
    await expectAppends(bench(), path, { 1: commitsOfOurs, 2: commitsOfOurs });
  });

  it('all commit when Spark and ours append', async () => {
    const path = await createTable(bench(), 'with-spark');
    const statements = upTo(commitsOfSpark - 1).map((n) => `INSERT INTO delta.\`${path}\` VALUES (2, ${n})`);
    const [ours] = await Promise.all([
      one.run({ path, what: 'append', writer: 1, count: commitsOfOurs }),
      bench().oracle.sql(...statements),
    ]);
    expect(ours).toEqual({ done: commitsOfOurs, lost: [] });
    await expectAppends(bench(), path, { 1: commitsOfOurs, 2: commitsOfSpark });
  });
});

async function createTable(bench: EngineBench, name: string): Promise<string> {
  const path = bench.path(name);
  await bench.session.sql(`CREATE TABLE delta.\`${path}\` (writer INT, n INT) USING delta`);
  return path;
}

/** Every append of every writer is there once, in a version of its own. */
async function expectAppends(bench: EngineBench, path: string, counts: Readonly<Record<number, number>>): Promise<void> {
  const expected = Object.entries(counts).flatMap(([writer, count]) => upTo(count - 1).map((n) => `{"n":${n},"writer":${writer}}`));
  expect(await bench.expectAgreement(path, { allowOrphans: true })).toEqual(expected.sort());
  expect(versionsInLog(path)).toEqual(upTo(expected.length));
}

/** Numbers of the versions in a table's log, in order. */
function versionsInLog(path: string): readonly number[] {
  return readdirSync(join(path, '_delta_log'))
    .filter((name) => /^\d{20}\.json$/.test(name))
    .map((name) => Number(name.slice(0, 20)))
    .sort((a, b) => a - b);
}

/** The whole numbers from 0 to `last`, both included. */
function upTo(last: number): readonly number[] {
  return Array.from({ length: last + 1 }, (_, index) => index);
}
