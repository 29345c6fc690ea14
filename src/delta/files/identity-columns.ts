import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { MetadataAction } from '../actions.ts';
import { printSchemaString } from '../schema-json.ts';

const keys = {
  start: 'delta.identity.start',
  step: 'delta.identity.step',
  highWaterMark: 'delta.identity.highWaterMark',
  allowExplicitInsert: 'delta.identity.allowExplicitInsert',
} as const;
const longMin = -(2n ** 63n);
const longMax = 2n ** 63n - 1n;

/** A column whose values the table makes: `next`, `next + step` … */
export interface IdentityColumn {
  readonly name: string;
  readonly next: bigint;
  readonly step: bigint;
  /** Whether rows may bring values of their own. */
  readonly allowsExplicit: boolean;
}

export function identityColumn(field: Field): IdentityColumn | undefined {
  const start = longOf(field.metadata?.[keys.start]);
  if (start === undefined) return undefined;
  const step = longOf(field.metadata?.[keys.step]) ?? 1n;
  const mark = longOf(field.metadata?.[keys.highWaterMark]);
  const allowsExplicit = field.metadata?.[keys.allowExplicitInsert] === true;
  return { name: field.name, next: mark === undefined ? start : mark + step, step, allowsExplicit };
}

/** Engine SQL that numbers rows on from the column's mark; each evaluation may give a row another number. */
export function identitySql(column: IdentityColumn): string {
  return `CAST(${column.next} + ${column.step} * (row_number() OVER () - 1) AS BIGINT)`;
}

/**
 * The metadata after `rowCount` rows got values of the columns.
 *
 * @throws AnalysisException `DELTA_IDENTITY_COLUMNS_EXHAUSTED` when the values leave the range of a long.
 */
export function withMarksMoved(
  metadata: MetadataAction,
  schema: StructType,
  columns: readonly IdentityColumn[],
  rowCount: number,
): MetadataAction {
  if (columns.length === 0 || rowCount === 0) return metadata;
  const fields = schema.fields.map((field) => {
    const column = columns.find((candidate) => candidate.name === field.name);
    if (column === undefined) return field;
    const mark = column.next + column.step * BigInt(rowCount - 1);
    if (mark < longMin || mark > longMax) throw exhausted(column);
    return withMark(field, mark);
  });
  return { ...metadata, schemaString: printSchemaString({ kind: 'struct', fields }) };
}

/** The column with `mark` as the last value it gave. */
export function withMark(field: Field, mark: bigint): Field {
  return { ...field, metadata: { ...field.metadata, [keys.highWaterMark]: mark } };
}

/** @throws AnalysisException `DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED` (42808). */
export function refuseExplicitValues(column: IdentityColumn): void {
  if (!column.allowsExplicit) throw explicitValues(column.name);
}

export function explicitValues(colName: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED',
    message: `Providing values for GENERATED ALWAYS AS IDENTITY column ${colName} is not supported.`,
    parameters: { colName },
    hint: 'leave the column out of the rows; the table numbers them',
  });
}

function exhausted(column: IdentityColumn): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_IDENTITY_COLUMNS_EXHAUSTED',
    message: `the values of the IDENTITY column ${column.name} leave the range of BIGINT`,
    parameters: { colName: column.name },
  });
}

/** Of a number in the metadata of a column. */
export function longOf(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value;
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : undefined;
}
