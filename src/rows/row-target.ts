import type { AnalysisException } from '../base/analysis-exception.ts';
import type { Expression } from '../expr/expression.ts';
import type { DataType, Field } from '../schema/types.ts';
import type { Assignment } from '../table/row-operations.ts';
import type { Side } from './change/row-scope.ts';
import type { ConversionFault, ConversionRule, MemberDifference } from './values/convert-value.ts';
import type { RowCheck } from './values/row-checks.ts';

/** The verbs; a format may delete rows differently for each. */
export type RowCommand = 'delete' | 'update' | 'merge';

export type ConditionFault = 'aggregate' | 'random' | 'query';

/** The table whose rows change, as far as its format decides about values and errors. */
export interface RowTarget {
  /** For messages. */
  readonly name: string;
  readonly errors: RowErrors;
  /** How values that have another type than their column are taken. */
  readonly conversion: ConversionRule;
  /** Whether structs of a MERGE with schema evolution may lack members of their column. */
  readonly fillsMembers: boolean;
  /** The command whose values may differ each time they are computed. */
  readonly drawsValuesIn: RowCommand;
  /** What the word DEFAULT stands for; `undefined`: null. */
  defaultOf(field: Field): Expression | undefined;
  /** Whether the table computes the column's values itself, so that they need not be given. */
  isComputed(field: Field): boolean;
  /** Why conditions and values may not ask queries; `undefined`: they may. */
  readonly refusalOfQueries?: ((command: RowCommand) => AnalysisException) | undefined;
  /** Why a column (or struct member) cannot be given a value by a clause; `undefined`: it can. */
  refusalOfAssignment(field: Field, action: 'insert' | 'update'): AnalysisException | undefined;
}

/** Refusals under the names that users of the table's format know them by. */
export interface RowErrors {
  /** Rules a value out that the assigned column's type does not have. */
  assignment(fault: ConversionFault): RowCheck;
  /** A struct whose members are not those of the column. */
  structMembers(difference: MemberDifference): AnalysisException;
  conflictingTargets(assignments: readonly Assignment[]): AnalysisException;
  memberOfNoStruct(path: readonly string[], type: DataType): AnalysisException;
  /** A row of the table for which several source rows want something. */
  multipleMatches(): AnalysisException;
  missingWhen(): AnalysisException;
  /** A name in a clause that none of the columns it may use has. */
  unresolvedInMerge(sqlExpr: string, place: { readonly clause: string; readonly sides: readonly Side[] }): AnalysisException;
  /** A condition of a MERGE that looks at several rows, or would answer differently each time it is asked. */
  mergeCondition(fault: ConditionFault, shown: string, clause: string): AnalysisException;
  /** INSERT of a MERGE into a member of a column alone. */
  memberInserted(path: readonly string[]): AnalysisException;
  duplicateInsertColumns(): AnalysisException;
  /** INSERT of a MERGE that leaves out a column which must have a value; `undefined`: the rows decide. */
  columnLeftOut?(column: string): AnalysisException;
}
