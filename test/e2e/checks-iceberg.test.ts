import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judge, readTable, type Verdict } from '../support/checks.ts';
import { newestMetadata, parseMetadata, type RawSnapshot } from '../support/checks-iceberg.ts';
import { eventually, ProductProcess } from '../support/process.ts';
import { untilThrough } from '../support/process-drain.ts';
import { type PipelineCase, Produced, pipelineCase, Workload } from '../support/process-workload.ts';
import { removeDirectory, temporaryDirectory } from '../support/servers.ts';

/* As checks.test.ts: what is read of an Iceberg table in other ways than of a Delta table is shown tables that break its rules. */

describe('the checks of Iceberg tables', () => {
  const dir = temporaryDirectory('checks-iceberg');
  const workload = new Workload();
  const produced = new Produced();
  let sound: PipelineCase;

  beforeAll(async () => {
    await workload.connect();
    sound = pipelineCase(dir, 'checks', {
      iceberg: { kind: 'files' },
      maintenance: '{ sweepInterval: 300ms, compaction: { minInputFiles: 3 }, vacuum: { enabled: false }, expiry: { enabled: false } }',
    });
    await workload.createTopic(sound);
    const running = new ProductProcess({ config: sound.config, args: ['serve'] });
    try {
      await eventually('there is a compaction', async () => {
        await workload.produce(sound, produced, 100);
        return readTable(sound).versions.some(({ operation }) => operation === 'OPTIMIZE');
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

  /** The verdict over the table as `damage` leaves it, which is undone: files of Iceberg tables are named by where they are. */
  async function verdictOf(damage: (tableDir: string) => void): Promise<Verdict> {
    const { tableDir } = sound;
    const saved = join(dir, 'saved');
    cpSync(tableDir, saved, { recursive: true });
    try {
      damage(tableDir);
      return await judge(workload, sound, produced);
    } finally {
      rmSync(tableDir, { recursive: true });
      cpSync(saved, tableDir, { recursive: true });
      rmSync(saved, { recursive: true });
    }
  }

  it('find nothing in a sound table', async () => {
    const verdict = await verdictOf(() => undefined);
    expect(verdict.findings).toEqual([]);
    expect(verdict.orphans).toEqual([]);
  });

  it('find rows that are missing because the table was put back', async () => {
    const { findings } = await verdictOf((tableDir) => {
      const [first, last] = [snapshots(tableDir)[0], snapshots(tableDir).at(-1)];
      changeMetadata(tableDir, (text) =>
        text.replace(
          new RegExp(`("current-snapshot-id"\\s*:\\s*)${last?.['snapshot-id'] ?? ''}`),
          (_, key: string) => `${key}${first?.['snapshot-id'] ?? ''}`,
        ),
      );
    });
    expect(rules(findings)).toEqual(new Set(['I1', 'I8']));
  });

  it('find files that the newest version forgets to list', async () => {
    const { findings } = await verdictOf((tableDir) => {
      const [first, last] = [snapshots(tableDir)[0], snapshots(tableDir).at(-1)];
      changeMetadata(tableDir, (text) => text.replace(last?.['manifest-list'] ?? '', first?.['manifest-list'] ?? ''));
    });
    expect(findings.some((finding) => finding.startsWith('I4') && finding.includes('does not list'))).toBe(true);
  });

  it('find a mark that goes back', async () => {
    const { findings } = await verdictOf((tableDir) => {
      const marks = snapshots(tableDir).at(-1)?.summary['tidewater.progress'] ?? '';
      changeMetadata(tableDir, (text) => text.replaceAll(JSON.stringify(marks), JSON.stringify(marks.replaceAll(/"\d+"/g, '"1"'))));
    });
    expect(findings.some((finding) => finding.startsWith('I2') && finding.includes('back to 1'))).toBe(true);
  });

  it('find a manifest that has another size than its list says', async () => {
    const { findings } = await verdictOf((tableDir) => {
      const manifest = [...readTable(sound).everNamed].find((path) => /-m\d+\.avro$/.test(path)) ?? '';
      appendFileSync(join(tableDir, manifest), 'x');
    });
    expect(findings.some((finding) => finding.startsWith('I5') && /\.avro of version \d+ has \d+ bytes/.test(finding))).toBe(true);
  });

  it('find a file that is gone, and one that was cut', async () => {
    const { findings } = await verdictOf((tableDir) => {
      const [first, second] = [...readTable(sound).live.keys()];
      appendFileSync(join(tableDir, first ?? ''), 'x');
      rmSync(join(tableDir, second ?? ''));
    });
    expect(findings.map((finding) => finding.slice(0, 2))).toEqual(['I5', 'I5']);
  });

  it('name the files that nothing refers to', async () => {
    const { orphans } = await verdictOf((tableDir) => {
      for (const name of ['left-m0.avro', 'snap-left.avro', '.tmp-left']) writeFileSync(join(tableDir, 'metadata', name), '');
      writeFileSync(join(tableDir, 'data', 'left.parquet'), '');
    });
    expect(orphans.map(({ path }) => path).sort()).toEqual([
      'data/left.parquet',
      'metadata/.tmp-left',
      'metadata/left-m0.avro',
      'metadata/snap-left.avro',
    ]);
  });
});

function rules(findings: readonly string[]): ReadonlySet<string> {
  return new Set(findings.map((finding) => finding.slice(0, finding.indexOf(':'))));
}

function metadataFile(tableDir: string): string {
  return newestMetadata(tableDir, { kind: 'files' }) ?? '';
}

function snapshots(tableDir: string): readonly RawSnapshot[] {
  return parseMetadata(readFileSync(metadataFile(tableDir), 'utf8')).snapshots ?? [];
}

function changeMetadata(tableDir: string, change: (text: string) => string): void {
  const file = metadataFile(tableDir);
  const text = readFileSync(file, 'utf8');
  const changed = change(text);
  if (changed === text) throw new Error('the damage is none');
  writeFileSync(file, changed);
}
