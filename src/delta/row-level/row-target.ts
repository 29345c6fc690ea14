import { AnalysisException } from '../../base/analysis-exception.ts';
import type { ConditionFault, RowCommand, RowErrors, RowTarget } from '../../rows/row-target.ts';
import { memberOfPlainValue } from '../../rows/values/conversion-errors.ts';
import type { ConversionFault } from '../../rows/values/convert-value.ts';
import { describeType } from '../../schema/describe-type.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { Field } from '../../schema/types.ts';
import { conversionCheck } from '../files/conversion-errors.ts';
import { explicitValues } from '../files/identity-columns.ts';
import { storedExpression } from '../files/stored-expression.ts';

/** What a Delta table decides about values and errors of row operations. */
export function deltaRowTarget(name: string): RowTarget {
  return {
    name,
    errors,
    conversion: 'cast',
    fillsMembers: true,
    drawsValuesIn: 'merge',
    defaultOf: (field) => {
      const text = field.metadata?.['CURRENT_DEFAULT'];
      return typeof text === 'string' ? storedExpression(name, `default of column "${field.name}"`, text) : undefined;
    },
    isComputed: (field) => field.metadata?.['delta.generationExpression'] !== undefined || isIdentity(field),
    refusalOfQueries: (command) => queriesAsked(command),
    refusalOfAssignment: (field, action) => {
      if (!isIdentity(field)) return undefined;
      if (action === 'update') return identityAssigned(field);
      return field.metadata?.['delta.identity.allowExplicitInsert'] === true ? undefined : explicitValues(field.name);
    },
  };
}

const usageReference = 'https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge';

const conditionFaults: Readonly<Record<ConditionFault, { readonly errorClass: string; readonly what: string }>> = {
  aggregate: { errorClass: 'DELTA_AGGREGATION_NOT_SUPPORTED', what: 'Aggregate functions' },
  random: { errorClass: 'DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED', what: 'Non-deterministic functions' },
  query: { errorClass: 'DELTA_UNSUPPORTED_SUBQUERY', what: 'Subqueries' },
};

const errors: RowErrors = {
  // As for inserted rows, but a value out of range has a name of its own in UPDATE and MERGE.
  assignment: (fault) => {
    const check = conversionCheck(fault, 'cast');
    return fault.kind === 'overflow' ? { ...check, error: () => overflow(fault) } : check;
  },
  structMembers: ({ from, to }) => {
    const [fromCatalog, toCatalog] = [from, to].map((type) => describeType(type));
    return new AnalysisException({
      errorClass: 'DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION',
      message: `Cannot cast ${fromCatalog ?? ''} to ${toCatalog ?? ''}. All nested columns must match.`,
      parameters: { fromCatalog: fromCatalog ?? '', toCatalog: toCatalog ?? '' },
      hint: 'give every member of the struct and no other, or assign members alone: SET column.member = value',
    });
  },
  conflictingTargets: (assignments) => {
    const columnList = `[${assignments.map(({ target }) => `\`${target.join('.')}\``).join(', ')}]`;
    return new AnalysisException({
      errorClass: 'DELTA_CONFLICT_SET_COLUMN',
      message: `There is a conflict from these SET columns: ${columnList}.`,
      parameters: { columnList },
    });
  },
  memberOfNoStruct: (path, type) => {
    const columnName = path.join('.');
    if (type.kind === 'list' || type.kind === 'map') return memberOfCollection(columnName);
    return memberOfPlainValue(columnName, type);
  },
  multipleMatches: () =>
    new AnalysisException({
      errorClass: 'DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE',
      message: `Cannot perform Merge as multiple source rows matched and attempted to modify the same
target row in the Delta table in possibly conflicting ways. By SQL semantics of Merge,
when multiple source rows match on the same target row, the result may be ambiguous
as it is unclear which source row should be used to update or delete the matching
target row. You can preprocess the source table to eliminate the possibility of
multiple matches. Please refer to
${usageReference}`,
      parameters: { usageReference },
      hint: 'reduce the source to one row for each key before merging',
    }),
  missingWhen: () =>
    new AnalysisException({
      errorClass: 'DELTA_MERGE_MISSING_WHEN',
      message: 'There must be at least one WHEN clause in a MERGE statement.',
    }),
  unresolvedInMerge: (sqlExpr, place) => {
    const cols = place.sides
      .flatMap(({ alias, schema }) => schema.fields.map((field) => (alias === undefined ? field.name : `${alias}.${field.name}`)))
      .join(', ');
    return new AnalysisException({
      errorClass: 'DELTA_MERGE_UNRESOLVED_EXPRESSION',
      message: `Cannot resolve ${sqlExpr} in ${place.clause} given columns ${cols}.`,
      parameters: { sqlExpr, clause: place.clause, cols },
    });
  },
  mergeCondition: (fault, shown, clause) => {
    const { errorClass, what } = conditionFaults[fault];
    const operation = `${clause} of MERGE operation`;
    const expression = `(condition = ${shown}).`;
    return new AnalysisException({
      errorClass,
      kind: 'unsupported',
      message: `${what} are not supported in the ${operation} ${expression}`,
      parameters: { operation, expression },
    });
  },
  memberInserted: (path) => {
    const fieldName = path.map((part) => `\`${part}\``).join('.');
    return new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION',
      kind: 'unsupported',
      message: `Nested field is not supported in the INSERT clause of MERGE operation (field = ${fieldName}).`,
      parameters: { operation: 'INSERT clause of MERGE operation', fieldName },
      hint: 'give the column as a whole',
    });
  },
  duplicateInsertColumns: () =>
    new AnalysisException({
      errorClass: 'DELTA_DUPLICATE_COLUMNS_ON_INSERT',
      message: 'Duplicate column names in INSERT clause',
    }),
};

function memberOfCollection(columnName: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE',
    kind: 'unsupported',
    message: 'Updating nested fields is only supported for StructType.',
    parameters: { operation: 'UPDATE' },
    hint: `assign \`${columnName}\` as a whole: SET ${columnName} = transform(${columnName}, …)`,
  });
}

function queriesAsked(command: RowCommand): AnalysisException {
  const operation = command.toUpperCase();
  return new AnalysisException({
    errorClass: 'DELTA_UNSUPPORTED_SUBQUERY',
    kind: 'unsupported',
    message: `Subqueries are not supported in the ${operation}.`,
    parameters: { operation },
    hint: 'MERGE with the query as its source',
  });
}

function isIdentity(field: Field): boolean {
  return field.metadata?.['delta.identity.start'] !== undefined;
}

function identityAssigned(field: Field): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED',
    message: `UPDATE on IDENTITY column ${field.name} is not supported.`,
    parameters: { colName: field.name },
  });
}

function overflow(fault: ConversionFault): AnalysisException {
  const [sourceType, targetType] = [fault.from, fault.to].map((type) => `"${sqlTypeName(type)}"`);
  const columnName = fault.path.map((part) => `\`${part}\``).join('.');
  return new AnalysisException({
    errorClass: 'DELTA_CAST_OVERFLOW_IN_TABLE_WRITE',
    message: `Failed to write a value of ${sourceType ?? ''} type into the ${targetType ?? ''} type column ${columnName} due to an overflow.`,
    parameters: { sourceType: sourceType ?? '', targetType: targetType ?? '', columnName },
    hint: 'use try_cast on the value to get null instead',
  });
}
