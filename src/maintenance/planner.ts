import type { TableHealth } from '../table/operations.ts';
import type { Capabilities } from '../table/table.ts';
import type { JobSpec } from './job-spec.ts';
import type { MaintenanceSettings } from './settings.ts';

export interface PlanFacts {
  readonly table: string;
  readonly capabilities: Capabilities;
  readonly health: TableHealth;
  readonly settings: Pick<MaintenanceSettings, 'compaction' | 'vacuum' | 'checkpoint' | 'expiry' | 'manifests' | 'deleteFiles'>;
  /** When a vacuum of the table last ended, whoever ran it; `undefined`: nothing tells of one. */
  readonly lastVacuumMs: number | undefined;
  readonly nowMs: number;
}

/** Which jobs a table's measured debt asks for, most urgent first. Pure: same facts, same jobs. */
export function planJobs(facts: PlanFacts): readonly JobSpec[] {
  const can = (kind: JobSpec['kind']): boolean => facts.capabilities.maintenance.includes(kind);
  const jobs: JobSpec[] = [];
  const { table } = facts;
  const checkpointReason = checkpointDebt(facts);
  if (checkpointReason !== undefined && can('checkpoint')) jobs.push({ table, kind: 'checkpoint', reason: checkpointReason });
  const compactionReason = compactionDebt(facts);
  if (compactionReason !== undefined && can('compact')) jobs.push({ table, kind: 'compact', reason: compactionReason });
  for (const [kind, reason] of upkeepDebts(facts)) if (can(kind)) jobs.push({ table, kind, reason });
  const vacuumReason = vacuumDebt(facts);
  if (vacuumReason !== undefined && can('vacuum')) jobs.push({ table, kind: 'vacuum', reason: vacuumReason });
  return jobs;
}

function checkpointDebt({ health, settings }: PlanFacts): string | undefined {
  const { enabled, minVersions } = settings.checkpoint;
  if (!enabled || health.versionsSinceCheckpoint < minVersions) return undefined;
  return `${health.versionsSinceCheckpoint} versions since the last log checkpoint`;
}

function compactionDebt({ health, settings }: PlanFacts): string | undefined {
  const { files, partitions } = health.compactable;
  if (!settings.compaction.enabled || files === 0) return undefined;
  return `${files} small files in ${partitions} ${partitions === 1 ? 'partition' : 'partitions'}`;
}

function upkeepDebts({ health, settings }: PlanFacts): readonly (readonly [kind: JobSpec['kind'], reason: string])[] {
  const { expirableVersions = 0, deleteFileCount = 0, smallManifestCount = 0 } = health;
  const { expiry, manifests, deleteFiles } = settings;
  return [
    ...(deleteFiles.enabled && deleteFileCount >= deleteFiles.minFiles
      ? [['rewrite-deletes', `${deleteFileCount} delete files`] as const]
      : []),
    ...(manifests.enabled && smallManifestCount >= manifests.minManifests
      ? [['rewrite-manifests', `${smallManifestCount} small manifests`] as const]
      : []),
    ...(expiry.enabled && expirableVersions >= expiry.minVersions
      ? [['expire', `${expirableVersions} snapshots past their retention`] as const]
      : []),
  ];
}

function vacuumDebt({ health, settings, lastVacuumMs, nowMs }: PlanFacts): string | undefined {
  const { enabled, intervalMs } = settings.vacuum;
  if (!enabled || (lastVacuumMs !== undefined && nowMs - lastVacuumMs < intervalMs)) return undefined;
  return lastVacuumMs === undefined
    ? `not known to have been vacuumed, ${health.tombstoneCount} tombstones`
    : `${health.tombstoneCount} tombstones`;
}
