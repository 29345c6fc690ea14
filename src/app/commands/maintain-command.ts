import { runOperation } from '../../maintenance/run-operation.ts';
import type { MaintainOptions, MaintainReport, MaintenanceVerb } from '../app-commands.ts';
import type { Components } from '../components.ts';
import { noteHolds } from '../reader-notes.ts';
import { tableHolds } from '../table-holds.ts';

/** Any two files that belong together are worth it when somebody asks. */
const minInputFiles = 2;

/** What readers hold back. */
const heldVerbs: readonly MaintenanceVerb[] = ['vacuum', 'expire', 'checkpoint'];

/** Runs one maintenance operation at once, with the same guards as the queue's workers. */
export async function maintainTable(components: Components, verb: MaintenanceVerb, options: MaintainOptions): Promise<MaintainReport> {
  const { table: name, dryRun, retentionMs, allowShortRetention } = options;
  const table = await components.catalog.load(name);
  const compaction = { ...components.config.maintenance.compaction, minInputFiles };
  const holds = tableHolds(components, (of, states) => noteHolds(components, of, states));
  const readers = dryRun && heldVerbs.includes(verb) ? await holds.look(name, { measured: true }) : [];
  const report = await runOperation(verb, table, holds, { dryRun, compaction, retentionMs, allowShortRetention });
  return { table: name, verb, ...report, readers };
}
