import type { MaintainOptions, MaintainReport, MaintenanceVerb } from '../app-commands.ts';
import type { Components } from '../components.ts';
import { feedWatermarks } from '../feed-watermarks.ts';

const msPerHour = 3_600_000;

/** Runs one maintenance operation at once, with the same guards as the queue's workers. */
export async function maintainTable(components: Components, verb: MaintenanceVerb, options: MaintainOptions): Promise<MaintainReport> {
  switch (verb) {
    case 'compact':
      return compactTable(components, options);
    case 'vacuum':
      return vacuumTable(components, options);
    case 'checkpoint':
      return checkpointTable(components, options);
  }
}

async function compactTable(components: Components, { table: name, dryRun }: MaintainOptions): Promise<MaintainReport> {
  const table = await components.catalog.load(name);
  const { targetFileBytes, maxGroups } = components.config.maintenance.compaction;
  const plan = await table.planCompaction({ targetFileBytes, minInputFiles: 2, maxGroups });
  const inputs = plan.groups.flatMap((group) => group.inputs);
  const planned = { groups: plan.groups.length, files: inputs.length, bytes: inputs.reduce((sum, file) => sum + file.sizeBytes, 0) };
  if (dryRun)
    return {
      table: name,
      verb: 'compact',
      outcome: 'planned',
      version: undefined,
      details: planned,
      paths: inputs.map((file) => file.path),
    };
  const { outcome, version, ...details } = await table.compact(plan);
  return { table: name, verb: 'compact', outcome: outcome === 'committed' ? 'done' : outcome, version, details, paths: [] };
}

async function vacuumTable(components: Components, options: MaintainOptions): Promise<MaintainReport> {
  const { table: name, dryRun, retentionMs, allowShortRetention } = options;
  const table = await components.catalog.load(name);
  const keepChangesFrom = await feedWatermarks(components).lowWatermark(name);
  const retentionHours = retentionMs === undefined ? undefined : retentionMs / msPerHour;
  const { paths, fileCount, sizeBytes, heldByFeeds } = await table.vacuum({ dryRun, retentionHours, allowShortRetention, keepChangesFrom });
  const outcome = dryRun ? 'planned' : fileCount === 0 ? 'nothing-to-do' : 'done';
  return { table: name, verb: 'vacuum', outcome, version: undefined, details: { files: fileCount, bytes: sizeBytes, heldByFeeds }, paths };
}

async function checkpointTable(components: Components, { table: name, dryRun }: MaintainOptions): Promise<MaintainReport> {
  const table = await components.catalog.load(name);
  const keepVersionsFrom = await feedWatermarks(components).lowWatermark(name);
  const { version, written } = await table.checkpoint({ dryRun, keepVersionsFrom });
  const outcome = dryRun ? 'planned' : written ? 'done' : 'nothing-to-do';
  return { table: name, verb: 'checkpoint', outcome, version, details: {}, paths: [] };
}
