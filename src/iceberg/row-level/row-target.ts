import { AnalysisException } from '../../base/analysis-exception.ts';
import { historyText } from '../../rows/change/row-scope.ts';
import type { RowErrors, RowTarget } from '../../rows/row-target.ts';
import { conversionCheck, unlikeMembers } from '../../rows/values/conversion-errors.ts';
import { writeDefault } from '../scan/initial-default.ts';

/** What an Iceberg table decides about values and errors of row operations; errors are Spark's. */
export function icebergRowTarget(name: string): RowTarget {
  return {
    name,
    errors,
    conversion: 'ansi',
    defaultOf: (field) => {
      const literal = writeDefault(field);
      return literal === undefined ? undefined : { kind: 'literal', literal };
    },
    isComputed: () => false,
    refusalOfAssignment: () => undefined,
  };
}

const errors: RowErrors = {
  assignment: conversionCheck,
  structMembers: unlikeMembers,
  conflictingTargets: (assignments) => {
    const columns = assignments.map(({ target }) => `\`${target.join('.')}\``).join(', ');
    return new AnalysisException({
      errorClass: 'DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS',
      sqlState: '42K09',
      message: `Cannot update a column more than once, or together with its members: ${columns}.`,
    });
  },
  memberOfNoStruct: (path, type) => {
    const inside = type.kind === 'list' || type.kind === 'map';
    return new AnalysisException({
      errorClass: inside ? 'DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS' : 'INVALID_FIELD_NAME',
      sqlState: inside ? '42K09' : '42000',
      message: `Field name ${path.join('.')} is invalid: it is not a struct but of type ${type.kind}.`,
      hint: 'assign the column as a whole',
    });
  },
  multipleMatches: () =>
    new AnalysisException({
      errorClass: 'MERGE_CARDINALITY_VIOLATION',
      sqlState: '23K01',
      message:
        'The ON search condition of the MERGE statement matched a single row from the target table with multiple rows of the source table. ' +
        'This could result in the target row being operated on more than once with an update or delete operation and is not allowed.',
      hint: 'reduce the source to one row for each key before merging',
    }),
  missingWhen: () =>
    new AnalysisException({
      errorClass: 'MERGE_WITHOUT_WHEN',
      sqlState: '42601',
      message: 'There must be at least one WHEN clause in a MERGE statement.',
    }),
  unresolvedInMerge: (sqlExpr, place) => {
    const columns = place.sides.flatMap(({ alias, schema }) =>
      schema.fields.map((field) => (alias === undefined ? `\`${field.name}\`` : `\`${alias}\`.\`${field.name}\``)),
    );
    return new AnalysisException({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      sqlState: '42703',
      message: `A column, variable, or function parameter with name \`${sqlExpr}\` cannot be resolved in the ${place.clause}. Did you mean one of the following? [${columns.join(', ')}].`,
      parameters: { objectName: `\`${sqlExpr}\``, proposal: columns.join(', ') },
    });
  },
  randomMergeCondition: (bound, clause) =>
    new AnalysisException({
      errorClass: 'INVALID_NON_DETERMINISTIC_EXPRESSIONS',
      sqlState: '42K0E',
      message: `The operator expects a deterministic expression, but the actual expression of the ${clause} is "${historyText(bound)}".`,
      parameters: { sqlExprs: `"${historyText(bound)}"` },
    }),
  duplicateInsertColumns: () =>
    new AnalysisException({
      errorClass: 'DUPLICATE_ASSIGNMENTS',
      sqlState: '42701',
      message: 'The columns of an INSERT clause must be different.',
    }),
};
