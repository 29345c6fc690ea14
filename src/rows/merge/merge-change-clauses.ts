import { assignedValues } from '../change/assigned-values.ts';
import { type RowClause, touchedColumn } from '../change/rewrite-sql.ts';
import type { RowWork } from '../row-work.ts';
import type { MergeSource } from './merge-source.ts';
import { bindInMerge, type ChangeClause, type MergeScopes, type MergeStatement, mergeScopes } from './merge-statement.ts';

interface ChangeClauses {
  /** Clauses for matched rows, then those for rows without a source row. */
  readonly clauses: readonly RowClause[];
  /** Source columns that new values are made of. */
  readonly carried: readonly string[];
}

/** The new values of rows that a MERGE changes, over the touched rows: the table's columns beside the source's. */
export async function changeClauses(
  work: RowWork,
  merge: {
    readonly statement: MergeStatement;
    readonly scopes: MergeScopes;
    readonly source: MergeSource;
  },
): Promise<ChangeClauses> {
  const carried = new Set<string>();
  const sourceColumn = (name: string): string => {
    carried.add(name);
    return touchedColumn(merge.source.columnOf(name));
  };
  const scopes = mergeScopes(
    {
      target: { ...merge.scopes.target, columnSql: touchedColumn },
      source: { ...merge.scopes.source, columnSql: sourceColumn },
    },
    work.now,
  );
  const clauses: RowClause[] = [];
  for (const clause of [...merge.statement.matched, ...merge.statement.notMatchedBySource]) {
    clauses.push(await rowClause(work, clause, scopes));
  }
  return { clauses, carried: [...carried] };
}

async function rowClause(work: RowWork, clause: ChangeClause, scopes: MergeScopes): Promise<RowClause> {
  if (clause.action === 'delete') return { kind: 'delete' };
  const scope = scopes[clause.scope];
  const bind = bindInMerge(work.target, scope, 'UPDATE clause');
  return {
    kind: 'update',
    ...(await assignedValues(work, clause.assigned, { scope, current: touchedColumn, bind, lacking: clause.lacking })),
  };
}
