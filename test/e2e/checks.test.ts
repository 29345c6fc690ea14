import { appendFileSync, copyFileSync, cpSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge, type Verdict } from '../support/checks.ts';
import { LogWatch, newestVersion, readLog } from '../support/checks-log.ts';
import { eventually, ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type PipelineCase, Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/* The checks of the other files are worth something only if they find what is broken: each is shown a table that breaks its rule. */

/** Everything was published before the table is damaged. */
const patienceMs = 5_000;

type Action = Record<string, Record<string, unknown>>;

describe('the checks', () => {
  const dir = temporaryDirectory('checks');
  const workload = new Workload();
  const produced = new Produced();
  let sound: PipelineCase;

  beforeAll(async () => {
    await workload.connect();
    sound = pipelineCase(dir, 'checks', {
      maintenance: '{ sweepInterval: 300ms, compaction: { minInputFiles: 3 }, vacuum: { enabled: false } }',
    });
    await workload.createTopic(sound);
    const running = new ProductProcess({ config: sound.config, args: ['serve'] });
    try {
      await eventually('there is a compaction', async () => {
        await workload.produce(sound, produced, 100);
        return readLog(sound.tableDir).versions.some(({ operation }) => operation === 'OPTIMIZE');
      });
      await untilThrough(running, sound, produced);
      expect(await running.terminate(), running.log).toMatchObject({ code: 0 });
    } finally {
      await running.kill();
    }
  });
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });

  /** The verdict over a copy of the table that `damage` changed. */
  async function verdictOf(name: string, damage: (tableDir: string) => void, expected: Produced = produced): Promise<Verdict> {
    const tableDir = join(dir, name);
    cpSync(sound.tableDir, tableDir, { recursive: true });
    damage(tableDir);
    return await judge(workload, { ...sound, tableDir }, expected, patienceMs);
  }

  it('find nothing in a sound table', async () => {
    expect((await verdictOf('sound', () => undefined)).findings).toEqual([]);
  });

  it('find a batch that was committed twice', async () => {
    const { findings } = await verdictOf('twice', (tableDir) => {
      const actions = commit(tableDir, firstBatch(tableDir)).map((action): Action => {
        const path = action['add']?.['path'];
        if (typeof path !== 'string') return action;
        const again = path.replace(/[^/]*$/, (file) => `again-${file}`);
        copyFileSync(join(tableDir, decodeURIComponent(path)), join(tableDir, decodeURIComponent(again)));
        return { add: { ...action['add'], path: again } };
      });
      writeCommit(tableDir, newestVersion(tableDir) + 1, actions);
    });
    expect(rules(findings)).toEqual(expect.arrayContaining(['I1', 'I2']));
  });

  it('find rows that are missing from the table', async () => {
    const { findings } = await verdictOf('missing', (tableDir) => {
      const [first] = readLog(tableDir).live.values();
      writeCommit(tableDir, newestVersion(tableDir) + 1, [{ remove: { path: first?.path ?? '', dataChange: true } }]);
    });
    expect(rules(findings)).toEqual(expect.arrayContaining(['I1', 'I7', 'I8']));
  });

  it('find a record that is neither a row nor a dead letter', async () => {
    const more = new Produced();
    for (const [partition, end] of produced.ends) more.ends.set(partition, end + 1n);
    for (const source of produced.poison) more.poison.add(source);
    expect(rules((await verdictOf('vanished', () => undefined, more)).findings)).toEqual([...produced.ends].map(() => 'I1'));
  });

  it('find a file that is gone, and one that was cut', async () => {
    const { findings } = await verdictOf('files', (tableDir) => {
      const [first, second] = [...readLog(tableDir).live.keys()];
      appendFileSync(join(tableDir, first ?? ''), 'x');
      rmSync(join(tableDir, second ?? ''));
    });
    expect(rules(findings)).toEqual(['I5', 'I5']);
  });

  it('find statistics that are no bounds', async () => {
    const { findings } = await verdictOf('statistics', (tableDir) => {
      const version = firstBatch(tableDir);
      const actions = commit(tableDir, version).map((action): Action => {
        if (action['add'] === undefined) return action;
        const stats = JSON.parse(String(action['add']['stats'])) as { maxValues: { id: number; at: string } };
        stats.maxValues.id -= 1;
        stats.maxValues.at = '2023-01-01T00:00:00.000Z';
        return { add: { ...action['add'], stats: JSON.stringify(stats) } };
      });
      writeCommit(tableDir, version, actions);
    });
    expect(findings.some((finding) => finding.startsWith('I13') && finding.includes(' id '))).toBe(true);
    expect(findings.some((finding) => finding.startsWith('I13') && finding.includes(' at '))).toBe(true);
  });

  it('find a mark that goes back, a version that is missing and a log entry that changed', async () => {
    const { findings } = await verdictOf('log', (tableDir) => {
      const newest = newestVersion(tableDir);
      const [mark] = readLog(tableDir).versions.at(-1)?.marks ?? readLog(tableDir).versions.flatMap(({ marks }) => [...marks]);
      const appId =
        mark?.[0] ??
        [
          ...(readLog(tableDir)
            .versions.find(({ marks }) => marks.size > 0)
            ?.marks.keys() ?? []),
        ][0];
      writeCommit(tableDir, newest + 2, [{ txn: { appId, version: 1 } }]);
    });
    expect(findings.filter((finding) => finding.startsWith('I3'))).toHaveLength(1);
    expect(findings.some((finding) => finding.startsWith('I2') && finding.includes('back to 1'))).toBe(true);

    const tableDir = join(dir, 'watched');
    cpSync(sound.tableDir, tableDir, { recursive: true });
    const watch = new LogWatch(tableDir);
    watch.look();
    appendFileSync(logEntry(tableDir, 1), '\n');
    rmSync(logEntry(tableDir, 2));
    expect(rules(watch.finish())).toEqual(['I3', 'I3']);
  });

  it('name the files that nothing refers to', async () => {
    const { orphans } = await verdictOf('orphans', (tableDir) => {
      writeFileSync(join(tableDir, 'kind=blue', 'left.parquet'), '');
      writeFileSync(join(tableDir, '_delta_log', '.tmp-left'), '');
      renameSync(join(tableDir, 'kind=blue', 'left.parquet'), join(tableDir, 'left.parquet'));
    });
    expect(orphans.map(({ path }) => path).sort()).toEqual(['_delta_log/.tmp-left', 'left.parquet']);
  });
});

function rules(findings: readonly string[]): readonly string[] {
  return findings.map((finding) => finding.slice(0, finding.indexOf(':')));
}

/** The first version with rows. */
function firstBatch(tableDir: string): number {
  return readLog(tableDir).versions.find(({ adds }) => adds.length > 0)?.version ?? -1;
}

function commit(tableDir: string, version: number): readonly Action[] {
  const lines = readFileSync(logEntry(tableDir, version), 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Action);
}

function writeCommit(tableDir: string, version: number, actions: readonly Action[]): void {
  writeFileSync(logEntry(tableDir, version), actions.map((action) => `${JSON.stringify(action)}\n`).join(''));
}

function logEntry(tableDir: string, version: number): string {
  return join(tableDir, '_delta_log', `${String(version).padStart(20, '0')}.json`);
}
