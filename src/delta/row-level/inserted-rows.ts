import { AnalysisException } from '../../base/analysis-exception.ts';
import { unionOf } from '../../rows/merge/insert-values.ts';
import type { GivenRows } from '../../rows/row-table.ts';
import type { RowWork } from '../../rows/row-work.ts';
import { refuseBrokenRows } from '../../rows/values/row-checks.ts';
import type { Relation } from '../../table/relation.ts';
import type { MetadataAction } from '../actions.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import { checkRows } from '../files/checked-rows.ts';
import { withMarksMoved } from '../files/identity-columns.ts';
import { prepareRows } from '../files/prepare-rows.ts';
import type { OperationContext } from '../operations/operation-context.ts';

/** Rows that a MERGE adds: checked, in the schema of the snapshot they are written under. */
interface InsertedRows {
  readonly rows: Relation;
  /** The table's definition after identity columns have counted on; the given one when there are none. */
  readonly metadata: MetadataAction;
}

/** @throws AnalysisException for values that do not fit and rows that break a constraint. */
export async function insertedRows(
  context: OperationContext,
  work: RowWork,
  plan: { readonly snapshot: DeltaSnapshot; readonly clauses: readonly GivenRows[]; readonly rowCount: bigint },
): Promise<InsertedRows> {
  const { snapshot, clauses, rowCount } = plan;
  const parts: Relation[] = [];
  let { metadata } = snapshot;
  for (const { rows: given, members } of clauses) {
    const prepared = prepareRows(context, snapshot, given, { matchBy: 'name', rule: 'cast', members });
    await refuseBrokenRows(work.engine, prepared.source, prepared.checks, work.signal);
    if (prepared.identities.length === 0) {
      parts.push(prepared.rows);
      continue;
    }
    if (clauses.length > 1) throw severalNumberings(prepared.identities.map(({ name }) => name));
    // Numbered once: each evaluation would number anew.
    parts.push(await work.holding(work.engine.materialize(prepared.rows, work.signal)));
    metadata = withMarksMoved(metadata, snapshot.schema, prepared.identities, Number(rowCount));
  }
  const rows = unionOf(parts, snapshot.schema);
  await checkRows(context, snapshot, rows, work.signal);
  return { rows, metadata };
}

function severalNumberings(columns: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_MERGE_IDENTITY',
    kind: 'unsupported',
    message: `several INSERT clauses of one MERGE would number the IDENTITY column ${columns.join(', ')} independently`,
    hint: 'write one INSERT clause, with CASE for its values',
    parameters: { columns: columns.join(', ') },
  });
}
