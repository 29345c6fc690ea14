import { AnalysisException } from '../../base/analysis-exception.ts';
import { requireDistinctRows } from '../../expr/clause-rules.ts';
import { commonType, settledType } from '../../expr/common-type.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType, Field } from '../../schema/types.ts';
import type { SetOperation } from './plan.ts';

/** As SQL has them. */
export const setWords: Readonly<Record<SetOperation, string>> = {
  union: 'UNION ALL',
  'union-distinct': 'UNION',
  intersect: 'INTERSECT',
  'intersect-all': 'INTERSECT ALL',
  except: 'EXCEPT',
  'except-all': 'EXCEPT ALL',
};

/**
 * Columns of a set operation: names of the left side, types that hold the values of both.
 *
 * @param operation as SQL has it: `UNION ALL`, `INTERSECT`.
 * @throws AnalysisException `NUM_COLUMNS_MISMATCH` 42826, `INCOMPATIBLE_COLUMN_TYPE` 42825, `UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE`.
 */
export function setColumns(operation: string, left: readonly Field[], right: readonly Field[]): readonly Field[] {
  if (left.length !== right.length) throw otherNumber(operation, left.length, right.length);
  if (operation !== 'UNION ALL') requireDistinctRows([...left, ...right]);
  return left.map((field, index) => {
    const other = right[index] ?? field;
    const type = commonType(field.type, other.type);
    if (type === undefined) throw incompatible(operation, index, [other.type, field.type]);
    return { name: field.name, type: settledType(type), nullable: field.nullable || other.nullable };
  });
}

/** Whether a side's column has to be cast. */
export function needsCast(from: DataType, to: DataType): boolean {
  // Of decimals the engine keeps the digits before the point, and rounds.
  if (from.kind === 'decimal' && to.kind === 'decimal') return from.precision !== to.precision || from.scale !== to.scale;
  // A FLOAT beside another number is one to the engine, and a DOUBLE here.
  return from.kind !== to.kind && (from.kind === 'string' || ['decimal', 'double'].includes(to.kind) || to.kind.startsWith('timestamp'));
}

function otherNumber(operation: string, first: number, second: number): AnalysisException {
  return new AnalysisException({
    errorClass: 'NUM_COLUMNS_MISMATCH',
    message: `${operation} can only be performed on inputs with the same number of columns, but the first input has ${first} columns and the second input has ${second} columns.`,
    parameters: { operator: operation, firstNumColumns: String(first), invalidNumColumns: String(second) },
  });
}

function incompatible(operation: string, index: number, types: readonly [DataType, DataType]): AnalysisException {
  const [dataType2 = '', dataType1 = ''] = types.map((type) => `"${sqlTypeName(type)}"`);
  return new AnalysisException({
    errorClass: 'INCOMPATIBLE_COLUMN_TYPE',
    message: `${operation} can only be performed on tables with compatible column types. Column ${index + 1} of the second table is ${dataType2} type which is not compatible with ${dataType1} at the same column of the first table.`,
    hint: 'cast one of them',
    parameters: { operator: operation, columnOrdinalNumber: String(index + 1), dataType1, dataType2 },
  });
}
