import { AnalysisException } from '../../base/analysis-exception.ts';
import type { ConditionFault, RowErrors, RowTarget } from '../../rows/row-target.ts';
import { conversionCheck, memberOfPlainValue, unlikeMembers } from '../../rows/values/conversion-errors.ts';
import { writeDefault } from '../scan/initial-default.ts';

/** What an Iceberg table decides about values and errors of row operations; errors are Spark's. */
export function icebergRowTarget(name: string): RowTarget {
  return {
    name,
    errors,
    conversion: 'ansi',
    fillsMembers: false,
    drawsValuesIn: 'update',
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
    return invalidAssignments(`Cannot update a column more than once, or together with its members: ${columns}.`);
  },
  memberOfNoStruct: (path, type) => {
    if (type.kind !== 'list' && type.kind !== 'map') return memberOfPlainValue(path.join('.'), type);
    return invalidAssignments(`Updating nested fields is only supported for StructType but \`${path.join('.')}\` is of type ${type.kind}.`);
  },
  multipleMatches: () =>
    new AnalysisException({
      errorClass: 'MERGE_CARDINALITY_VIOLATION',
      message:
        'The ON search condition of the MERGE statement matched a single row from the target table with multiple rows of the source table. ' +
        'This could result in the target row being operated on more than once with an update or delete operation and is not allowed.',
      hint: 'reduce the source to one row for each key before merging',
    }),
  missingWhen: () =>
    new AnalysisException({
      errorClass: 'MERGE_WITHOUT_WHEN',
      message: 'There must be at least one WHEN clause in a MERGE statement.',
    }),
  unresolvedInMerge: (sqlExpr, place) => {
    const columns = place.sides.flatMap(({ alias, schema }) =>
      schema.fields.map((field) => (alias === undefined ? `\`${field.name}\`` : `\`${alias}\`.\`${field.name}\``)),
    );
    return new AnalysisException({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      message: `A column, variable, or function parameter with name \`${sqlExpr}\` cannot be resolved in the ${place.clause}. Did you mean one of the following? [${columns.join(', ')}].`,
      parameters: { objectName: `\`${sqlExpr}\``, proposal: columns.join(', ') },
    });
  },
  mergeCondition: (fault, shown, clause) => {
    const [word, what] = conditionFaults[fault];
    const condName = (clause.split(' ')[0] ?? '').toUpperCase();
    return new AnalysisException({
      errorClass: `UNSUPPORTED_MERGE_CONDITION.${word}`,
      message: `MERGE operation contains unsupported ${condName} condition. ${what} are not allowed: "${shown}".`,
      parameters: { condName, cond: `"${shown}"` },
    });
  },
  memberInserted: (path) => invalidAssignments(`INSERT assignment keys cannot be nested fields: \`${path.join('.')}\`.`),
  columnLeftOut: (column) => invalidAssignments(`No assignment for the column \`${column}\`, which is NOT NULL and has no default.`),
  duplicateInsertColumns: () => invalidAssignments('The columns of an INSERT clause must be different.'),
};

const conditionFaults: Readonly<Record<ConditionFault, readonly [word: string, what: string]>> = {
  aggregate: ['AGGREGATE', 'Aggregates'],
  random: ['NON_DETERMINISTIC', 'Non-deterministic expressions'],
  query: ['SUBQUERY', 'Subqueries'],
};

function invalidAssignments(message: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.INVALID_ROW_LEVEL_OPERATION_ASSIGNMENTS',
    message,
    hint: 'assign each column once and as a whole',
  });
}
