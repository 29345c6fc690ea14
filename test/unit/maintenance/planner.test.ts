import { describe, expect, it } from 'vitest';
import { type PlanFacts, planJobs } from '../../../src/maintenance/planner.ts';
import type { TableHealth } from '../../../src/table/operations.ts';
import { toVersion } from '../../../src/table/version.ts';

const healthy: TableHealth = {
  version: toVersion(9),
  fileCount: 3,
  sizeBytes: 100,
  smallFileCount: 0,
  compactable: { files: 0, partitions: 0 },
  tombstoneCount: 0,
  versionsSinceCheckpoint: 0,
};
const settings: PlanFacts['settings'] = {
  compaction: { enabled: true, targetFileBytes: 1000, minInputFiles: 4, maxGroups: 2 },
  vacuum: { enabled: true, retentionMs: undefined, intervalMs: 1000 },
  checkpoint: { enabled: true, minVersions: 10 },
  expiry: { enabled: true, retentionMs: undefined, minVersions: 3 },
  manifests: { enabled: true, minManifests: 4 },
  deleteFiles: { enabled: true, minFiles: 5 },
};

function planned(facts: Partial<PlanFacts>): readonly string[] {
  const capabilities = { changeFeed: 'none', rowLevel: 'none', maintenance: ['compact', 'vacuum', 'checkpoint'] } as const;
  const jobs = planJobs({ table: 't', capabilities, health: healthy, settings, lastVacuumMs: 5_000, nowMs: 5_999, ...facts });
  return jobs.map(({ table, kind, reason }) => `${table} ${kind}: ${reason}`);
}

const indebted: TableHealth = {
  ...healthy,
  versionsSinceCheckpoint: 10,
  tombstoneCount: 7,
  compactable: { files: 10, partitions: 2 },
};

describe('planning maintenance', () => {
  it('asks for nothing while a table has no debt', () => {
    expect(planned({})).toEqual([]);
    expect(planned({ health: { ...healthy, versionsSinceCheckpoint: 9, tombstoneCount: 1_000 } })).toEqual([]);
  });

  it('asks for what only some formats have, where there is debt and the table can', () => {
    const capabilities = {
      changeFeed: 'inferred',
      rowLevel: 'none',
      maintenance: ['compact', 'expire', 'rewrite-manifests', 'rewrite-deletes', 'vacuum'],
    } as const;
    const health = { ...healthy, expirableVersions: 3, smallManifestCount: 4, deleteFileCount: 5 };
    expect(planned({ health, capabilities })).toEqual([
      't rewrite-deletes: 5 delete files',
      't rewrite-manifests: 4 small manifests',
      't expire: 3 snapshots past their retention',
    ]);
    expect(planned({ health })).toEqual([]);
    expect(planned({ health: { ...healthy, expirableVersions: 2, smallManifestCount: 3, deleteFileCount: 4 }, capabilities })).toEqual([]);
  });

  it('asks for what is due, log checkpoint first, and says why', () => {
    expect(planned({ health: indebted, nowMs: 6_000 })).toEqual([
      't checkpoint: 10 versions since the last log checkpoint',
      't compact: 10 small files in 2 partitions',
      't vacuum: 7 tombstones',
    ]);
  });

  it('vacuums a table that nothing says was vacuumed, then once an interval', () => {
    expect(planned({ lastVacuumMs: undefined })).toEqual(['t vacuum: not known to have been vacuumed, 0 tombstones']);
    expect(planned({ nowMs: 5_999 })).toEqual([]);
    expect(planned({ nowMs: 6_000 })).toEqual(['t vacuum: 0 tombstones']);
  });

  it('leaves out what is switched off and what the table cannot do', () => {
    const off = {
      ...settings,
      compaction: { ...settings.compaction, enabled: false },
      vacuum: { ...settings.vacuum, enabled: false },
      checkpoint: { ...settings.checkpoint, enabled: false },
    };
    expect(planned({ health: indebted, lastVacuumMs: undefined, settings: off })).toEqual([]);
    const capabilities = { changeFeed: 'none', rowLevel: 'none', maintenance: ['vacuum'] } as const;
    expect(planned({ health: indebted, lastVacuumMs: undefined, capabilities })).toHaveLength(1);
  });
});
