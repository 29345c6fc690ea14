import { AnalysisException } from '../../base/analysis-exception.ts';
import { quoteName } from '../../expr/sql/engine-sql.ts';
import { findColumn, withFieldAt } from '../../schema/column-path.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { identityColumn, withMark } from '../files/identity-columns.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { fileScanOf } from '../scan/file-scan.ts';
import { selectFiles } from '../scan/select-files.ts';
import { changeColumn } from './change-columns.ts';
import type { PlannedChange } from './planned-change.ts';

/**
 * ALTER COLUMN … SYNC IDENTITY: the column counts on behind the furthest value that its rows have, however it came there. A value before the
 * first one the column would give, and one that its mark has passed, moves nothing.
 *
 * @throws AnalysisException `DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN` (429BQ), what `findColumn` throws.
 */
export async function syncIdentity(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  change: { readonly path: readonly string[] },
  signal?: AbortSignal,
): Promise<PlannedChange | undefined> {
  const found = findColumn(snapshot.schema, change.path);
  const identity = found.path.length === 1 ? identityColumn(found.field) : undefined;
  if (identity === undefined) throw noIdentity();
  // Only rows that brought their own values can have passed the mark.
  const furthest = identity.allowsExplicit ? await furthestValue(context, snapshot, identity, signal) : undefined;
  const { next, step } = identity;
  if (furthest === undefined || (step > 0n ? furthest < next : furthest > next)) return undefined;
  // The first value of the column's own sequence that is not before the furthest.
  const steps = (furthest - next) / step;
  const mark = next + step * ((furthest - next) % step === 0n ? steps : steps + 1n);
  const field = withMark(found.field, mark);
  return {
    ...changeColumn(
      found.path,
      field,
      withFieldAt(snapshot.schema, found.path, () => field),
    ),
    // Values that others bring meanwhile were not looked at.
    reads: { wholeTable: true },
  };
}

async function furthestValue(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  { name, step }: { readonly name: string; readonly step: bigint },
  signal: AbortSignal | undefined,
): Promise<bigint | undefined> {
  if (snapshot.fileCount === 0) return undefined;
  const engine = await context.engine();
  const rows = await engine.scan(fileScanOf(context, snapshot, selectFiles(snapshot, undefined)), {}, signal);
  try {
    const [first] = await engine.rows(`SELECT ${step > 0n ? 'max' : 'min'}(${quoteName(name)}) FROM (${rows.sql})`, signal);
    const value = first?.[0];
    return typeof value === 'bigint' ? value : undefined;
  } finally {
    await rows.dispose();
  }
}

function noIdentity(): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN',
    message: 'ALTER TABLE ALTER COLUMN SYNC IDENTITY cannot be called on non IDENTITY columns.',
    hint: 'name a column that is GENERATED … AS IDENTITY',
  });
}
