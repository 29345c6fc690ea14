import { describe, expect, it } from 'vitest';
import type { MaintainOptions, MaintainReport } from '../../../src/app/app-commands.ts';
import { toVersion } from '../../../src/table/version.ts';
import { cli } from './cli-support.ts';

describe('maintain', () => {
  const report: MaintainReport = {
    table: 't',
    verb: 'vacuum',
    outcome: 'planned',
    version: undefined,
    details: { files: 1_200, bytes: 2_048 },
    paths: ['a', 'b'],
    readers: [],
  };
  const recording = (result: MaintainReport, seen: MaintainOptions[] = []) => ({
    maintain: (_context: unknown, _verb: string, options: MaintainOptions) => {
      seen.push(options);
      return Promise.resolve(result);
    },
  });

  it('a dry run names the readers, what is kept for them and what they may lose', async () => {
    const reader = { by: 'shop/t/nl', fromVersion: toVersion(4), releasable: true, ageMs: 93_600_000, bytes: 2_048, isOver: true } as const;
    const readers = [
      { ...reader, isReleased: true, versions: 3 },
      { ...reader, by: 'shop/t/de', isOver: false, isReleased: false, versions: 1 },
      { ...reader, by: 'shop/t/be', isReleased: false, versions: 2 },
      { ...reader, by: 'shop/t/fr', isReleased: false, versions: 0 },
    ];
    const { out } = await cli('maintain vacuum t', { app: recording({ ...report, readers }) });
    expect(out.split('\n').slice(3, 7)).toEqual([
      '  not kept for shop/t/nl any more, which may lose versions 4 to 6, the oldest 26h old, 2.0 KiB that would be gone otherwise',
      '  kept for shop/t/de: version 4, the oldest 26h old, 2.0 KiB that would be gone otherwise',
      '  kept for shop/t/be: versions 4 to 5, the oldest 26h old, 2.0 KiB that would be gone otherwise, over maintenance.feedHold',
      '  shop/t/fr has read all',
    ]);
  });

  it('vacuum deletes only with --yes', async () => {
    const seen: MaintainOptions[] = [];
    const { out } = await cli('maintain vacuum t', { app: recording(report, seen) });
    expect(out).toBe(
      'vacuum t: dry run, nothing was changed\n  files: 1,200\n  bytes: 2.0 KiB\n  a\n  b\nrun it again with --yes to delete\n',
    );
    await cli('maintain vacuum t --yes --retain 2d --allow-short-retention', { app: recording(report, seen) });
    await cli('maintain vacuum t --dry-run', { app: recording(report, seen) });
    expect(seen.map(({ dryRun, retentionMs, allowShortRetention }) => [dryRun, retentionMs, allowShortRetention])).toEqual([
      [true, undefined, false],
      [false, 172_800_000, true],
      [true, undefined, false],
    ]);
    expect((await cli('maintain vacuum t --yes --dry-run')).code).toBe(2);
  });

  it('compact works at once unless it is a dry run, and a lost race ends with 3', async () => {
    const seen: MaintainOptions[] = [];
    const done = { ...report, verb: 'compact' as const, outcome: 'done' as const, version: 8, paths: [] };
    expect((await cli('maintain compact t', { app: recording(done, seen) })).out).toContain('compact t: done, version 8');
    await cli('maintain compact t --dry-run', { app: recording(done, seen) });
    expect(seen.map(({ dryRun }) => dryRun)).toEqual([false, true]);
    expect((await cli('maintain compact t', { app: recording({ ...done, outcome: 'conflicted' }) })).code).toBe(3);
  });

  it('with --json all counts are members', async () => {
    expect(JSON.parse((await cli('maintain vacuum t --json', { app: recording(report) })).out)).toEqual({
      table: 't',
      verb: 'vacuum',
      outcome: 'planned',
      version: null,
      files: 1_200,
      bytes: 2_048,
      paths: ['a', 'b'],
    });
  });
});
