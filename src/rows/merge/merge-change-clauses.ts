import { assignedValues } from '../change/assigned-values.ts';
import type { HiddenNames } from '../change/hidden-names.ts';
import { type RowClause, touchedColumn } from '../change/rewrite-sql.ts';
import { RowScope } from '../change/row-scope.ts';
import type { RowWork } from '../row-work.ts';
import { DrawnValues } from './drawn-values.ts';
import type { MergeSource } from './merge-source.ts';
import { bindInMerge, type ChangeClause, type MergeScopes, type MergeStatement, mergeScopes } from './merge-statement.ts';

interface ChangeClauses {
  /** Clauses for matched rows, then those for rows without a source row. */
  readonly clauses: readonly RowClause[];
  /** Source columns that new values are made of. */
  readonly carried: readonly string[];
  /** Values that they mention beside columns. */
  readonly drawn: DrawnValues;
}

/** The new values of rows that a MERGE changes, over the touched rows: the table's columns beside the source's. */
export async function changeClauses(
  work: RowWork,
  merge: {
    readonly statement: MergeStatement;
    readonly scopes: MergeScopes;
    readonly source: MergeSource;
    readonly hidden: HiddenNames;
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
  const drawn = new DrawnValues(work, merge.hidden);
  const clauses: RowClause[] = [];
  for (const clause of [...merge.statement.matched, ...merge.statement.notMatchedBySource]) {
    clauses.push(await rowClause(work, clause, { scopes, drawn }));
  }
  return { clauses, carried: [...carried], drawn };
}

interface ClausePlace {
  readonly scopes: MergeScopes;
  readonly drawn: DrawnValues;
}

async function rowClause(work: RowWork, clause: ChangeClause, place: ClausePlace): Promise<RowClause> {
  if (clause.action === 'delete') return { kind: 'delete' };
  const { scopes, drawn } = place;
  const scope = scopes[clause.scope];
  const bind = bindInMerge(work.target, scope, 'UPDATE clause');
  const values = await assignedValues(work, clause.assigned, {
    scope: new RowScope([...scope.sides, drawn], work.now),
    current: touchedColumn,
    bind,
    draw: work.target.drawsValuesIn === 'merge' ? (bound) => drawn.draw(bound) : undefined,
    lacking: clause.lacking,
  });
  return { kind: 'update', ...values };
}
