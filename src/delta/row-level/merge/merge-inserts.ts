import { AnalysisException } from '../../../base/analysis-exception.ts';
import { memberRule } from '../../../rows/change/assigned-values.ts';
import { countRows } from '../../../rows/change/engine-counts.ts';
import { insertValues, type UnmatchedRows } from '../../../rows/merge/insert-values.ts';
import type { MergeStatement } from '../../../rows/merge/merge-statement.ts';
import { refuseBrokenRows } from '../../../rows/values/row-checks.ts';
import type { Relation } from '../../../table/relation.ts';
import type { MetadataAction } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { checkRows } from '../../files/checked-rows.ts';
import { withMarksMoved } from '../../files/identity-columns.ts';
import { prepareRows } from '../../files/prepare-rows.ts';
import type { DeltaRowWork } from '../row-work.ts';

/** Rows that a MERGE adds: checked, in the schema of the snapshot they are written under. */
export interface MergeInserts {
  readonly rows: Relation;
  readonly rowCount: bigint;
  /** The table's definition after identity columns have counted on; the given one when there are none. */
  readonly metadata: MetadataAction;
}

interface InsertPlan extends UnmatchedRows {
  readonly statement: MergeStatement;
  /** Whose definition the rows follow. */
  readonly snapshot: DeltaSnapshot;
}

/**
 * What the insert clauses make of the source rows that match nothing; `undefined`: there are none.
 *
 * @throws AnalysisException for values that do not fit and rows that break a constraint.
 */
export async function insertedRows(work: DeltaRowWork, plan: InsertPlan): Promise<MergeInserts | undefined> {
  const { snapshot, statement } = plan;
  const rowCount = await countRows(work, plan.unmatched);
  if (rowCount === 0n) return undefined;
  const parts: Relation[] = [];
  let metadata = snapshot.metadata;
  for (const [index, clause] of statement.notMatched.entries()) {
    const given = await insertValues(work, plan, { clause, index });
    const prepared = prepareRows(work.context, snapshot, given, {
      matchBy: 'name',
      rule: 'store',
      members: memberRule(work.target, clause.lacking),
    });
    await refuseBrokenRows(work.engine, prepared.source, prepared.checks, work.signal);
    if (prepared.identities.length === 0) {
      parts.push(prepared.rows);
      continue;
    }
    if (statement.notMatched.length > 1) throw severalNumberings(prepared.identities.map(({ name }) => name));
    // Numbered once: each evaluation would number anew.
    parts.push(await work.holding(work.engine.materialize(prepared.rows, work.signal)));
    metadata = withMarksMoved(metadata, snapshot.schema, prepared.identities, Number(rowCount));
  }
  const rows = { sql: parts.map(({ sql }) => `SELECT * FROM (${sql})`).join(' UNION ALL '), schema: snapshot.schema };
  await checkRows(work.context, snapshot, rows, work.signal);
  return { rows, rowCount, metadata };
}

function severalNumberings(columns: readonly string[]): AnalysisException {
  return new AnalysisException({
    errorClass: 'UNSUPPORTED_MERGE_IDENTITY',
    kind: 'unsupported',
    sqlState: '0A000',
    message: `several INSERT clauses of one MERGE would number the IDENTITY column ${columns.join(', ')} independently`,
    hint: 'write one INSERT clause, with CASE for its values',
    parameters: { columns: columns.join(', ') },
  });
}
