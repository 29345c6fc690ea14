import { AnalysisException } from '../../../base/analysis-exception.ts';
import type { Expression } from '../../../expr/expression.ts';
import { isDeterministic } from '../../../expr/expression-tree.ts';
import { quoteName } from '../../../expr/sql/engine-sql.ts';
import type { Field } from '../../../schema/types.ts';
import type { Relation } from '../../../table/relation.ts';
import type { MetadataAction } from '../../actions.ts';
import type { DeltaSnapshot } from '../../delta-snapshot.ts';
import { checkRows } from '../../files/checked-rows.ts';
import { withMarksMoved } from '../../files/identity-columns.ts';
import { prepareRows } from '../../files/prepare-rows.ts';
import { refuseBrokenRows } from '../../files/row-checks.ts';
import { withDefault } from '../assigned-values.ts';
import { countRows } from '../engine-counts.ts';
import type { HiddenNames } from '../hidden-names.ts';
import type { RowScope } from '../row-scope.ts';
import type { RowWork } from '../row-work.ts';
import { unresolvedInMerge } from './merge-errors.ts';
import { bindInMerge, type InsertClause, type MergeStatement } from './merge-statement.ts';

/** Rows that a MERGE adds: checked, in the schema of the snapshot they are written under. */
export interface MergeInserts {
  readonly rows: Relation;
  readonly rowCount: bigint;
  /** The table's definition after identity columns have counted on; the given one when there are none. */
  readonly metadata: MetadataAction;
}

interface InsertPlan {
  readonly statement: MergeStatement;
  readonly hidden: HiddenNames;
  /** The source's columns under the alias `s`. */
  readonly scope: RowScope;
  /** Source rows to insert, with the number of the clause. */
  readonly unmatched: Relation;
  /** Whose definition the rows follow. */
  readonly snapshot: DeltaSnapshot;
}

/**
 * What the insert clauses make of the source rows that match nothing; `undefined`: there are none.
 *
 * @throws AnalysisException for values that do not fit and rows that break a constraint.
 */
export async function insertedRows(work: RowWork, plan: InsertPlan): Promise<MergeInserts | undefined> {
  const { snapshot, statement } = plan;
  const rowCount = await countRows(work, plan.unmatched);
  if (rowCount === 0n) return undefined;
  const parts: Relation[] = [];
  let metadata = snapshot.metadata;
  for (const [index, clause] of statement.notMatched.entries()) {
    const given = await valuesOf(work, plan, { clause, index });
    const prepared = prepareRows(work.context, snapshot, given, { matchBy: 'name', rule: 'store' });
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

/** The values of one clause under the names of the table's columns. */
async function valuesOf(
  work: RowWork,
  plan: InsertPlan,
  { clause, index }: { readonly clause: InsertClause; readonly index: number },
): Promise<Relation> {
  const { scope } = plan;
  const columns = boundInsertValues(work.context.name, clause, scope);
  const bound = columns.map((column) => column.bound);
  const types = await scope.typesOf(work.engine, bound, work.signal);
  const fields = columns.map(({ field }, place): Field => ({ name: field.name, type: types[place] ?? field.type, nullable: true }));
  const named = columns.map((column) => `${scope.sql(column.bound)} AS ${quoteName(column.field.name)}`);
  const values = named.length === 0 ? [quoteName(plan.hidden.clause)] : named;
  const chosen = `FROM (${plan.unmatched.sql}) s WHERE s.${quoteName(plan.hidden.clause)} = ${index}`;
  const rows: Relation = { sql: `SELECT ${values.join(', ')} ${chosen}`, schema: { kind: 'struct', fields } };
  return bound.every(isDeterministic) ? rows : work.holding(work.engine.materialize(rows, work.signal));
}

/**
 * The values of an insert clause with their names resolved.
 *
 * @throws AnalysisException `DELTA_MERGE_UNRESOLVED_EXPRESSION` (42601).
 */
export function boundInsertValues(
  table: string,
  clause: InsertClause,
  scope: RowScope,
): readonly { readonly field: Field; readonly bound: Expression }[] {
  const bind = bindInMerge(scope, 'INSERT clause');
  return clause.assigned.map(({ field, value }) => {
    if (value.kind === 'members') throw unresolvedInMerge(field.name, { clause: 'INSERT clause', sides: scope.sides });
    return { field, bound: bind(withDefault(table, scope, { field, value: value.value })) };
  });
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
