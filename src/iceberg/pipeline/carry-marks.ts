import { present } from '../../base/assert.ts';
import { statementTime } from '../../expr/time-zone.ts';
import { positionsByFile } from '../../rows/change/positions-by-file.ts';
import { deletedCopies } from '../../rows/keyed/deleted-copies.ts';
import { RowWork } from '../../rows/row-work.ts';
import { keyColumnsOf } from '../../table/keyed.ts';
import { type DeletedPositions, stageDeletes } from '../files/stage-deletes.ts';
import type { ContentFile } from '../metadata/content-file.ts';
import { marksRows } from '../row-level/row-modes.ts';
import { icebergRowTarget } from '../row-level/row-target.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { type LiveFile, liveFiles, notYetLive } from '../scan/live-files.ts';
import type { SnapshotState } from '../snapshot-state.ts';
import type { TableContext } from '../table-context.ts';

/** Files that become others. */
export interface RewrittenFiles {
  readonly inputs: readonly LiveFile[];
  readonly outputs: readonly ContentFile[];
  /** Delete files over the outputs. */
  readonly marks: readonly ContentFile[];
}

/**
 * What was rewritten on top of a snapshot in which inputs are gone or have other deletes: with those that are left, and with deletes of its own over
 * copies of rows that are not among them, wherever those went. `undefined`: it cannot be had so, which is so for a table whose rows no key tells apart,
 * or that marks no rows, and for one whose definition has changed.
 */
export async function carryMarks(
  context: TableContext,
  { base, fresh }: { readonly base: SnapshotState; readonly fresh: SnapshotState },
  rewritten: readonly RewrittenFiles[],
  signal: AbortSignal | undefined,
): Promise<readonly RewrittenFiles[] | undefined> {
  const keyColumns = keyColumnsOf(fresh);
  if (keyColumns.length === 0 || !marksRows(fresh, 'merge') || !sameDefinition(base, fresh)) return undefined;
  const { data } = await liveFiles(context, fresh, undefined, signal);
  const byPath = new Map(data.map((file) => [file.entry.file.path, file]));
  const carried: RewrittenFiles[] = [];
  for (const { inputs, outputs } of rewritten) {
    const left = inputs.flatMap(({ entry }) => byPath.get(entry.file.path) ?? []);
    const marks = left.length === 0 ? undefined : await marksOf(context, fresh, { inputs: left, outputs, keyColumns }, signal);
    if (marks !== undefined) carried.push({ inputs: left, outputs, marks });
  }
  return carried.length === 0 ? undefined : carried;
}

async function marksOf(
  context: TableContext,
  state: SnapshotState,
  {
    inputs,
    outputs,
    keyColumns,
  }: { readonly inputs: readonly LiveFile[]; readonly outputs: readonly ContentFile[]; readonly keyColumns: readonly string[] },
  signal: AbortSignal | undefined,
): Promise<readonly ContentFile[] | undefined> {
  const engine = await context.engine();
  const { name, clock } = context;
  const work = new RowWork({ target: icebergRowTarget(name), engine, signal, now: statementTime(context), clock });
  const files = outputs.map(notYetLive);
  try {
    const copies = await work.holding(engine.scan(await fileScanOf(context, state, files, {}, signal), { withPositions: true }, signal));
    const live = await work.holding(engine.scan(await fileScanOf(context, state, inputs, {}, signal), undefined, signal));
    const dead = await deletedCopies(work, { copies, live, keyColumns });
    if (dead === undefined) return undefined;
    const deleted = async function* (): AsyncGenerator<DeletedPositions> {
      for await (const { index, positions } of positionsByFile(work, dead))
        yield { file: present(files[index], 'a deleted position must be of one of the files'), positions };
    };
    return (await stageDeletes(context, state, deleted(), signal)).added;
  } finally {
    await work.release();
  }
}

function sameDefinition({ metadata: base }: SnapshotState, { metadata: fresh }: SnapshotState): boolean {
  return (
    base.tableUuid === fresh.tableUuid &&
    base.formatVersion === fresh.formatVersion &&
    base.currentSchemaId === fresh.currentSchemaId &&
    base.defaultSpecId === fresh.defaultSpecId
  );
}
