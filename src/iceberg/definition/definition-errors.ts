import { AnalysisException } from '../../base/analysis-exception.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';

/** `_LEGACY_ERROR_TEMP_2045`: a change of columns that the table cannot take, in the words of other implementations. */
export function unsupportedChange(detail: string, hint?: string): AnalysisException {
  return new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_2045',
    message: `Unsupported table change: ${detail}`,
    parameters: { message: detail },
    hint,
  });
}

/** `ICEBERG_DEFINITION_REFUSED`: a change of partitioning, order, references or properties that cannot be. */
export function refusedDefinition(message: string, hint?: string): AnalysisException {
  return new AnalysisException({ errorClass: 'ICEBERG_DEFINITION_REFUSED', alias: 'IllegalArgumentException', message, hint });
}

/** `_LEGACY_ERROR_TEMP_2330` */
export function nullableToRequired(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: '_LEGACY_ERROR_TEMP_2330',
    message: `Cannot change nullable column to non-nullable: ${name}.`,
    parameters: { fieldName: name },
    hint: 'rows that are there may have no value for it',
  });
}

/** `NOT_SUPPORTED_CHANGE_COLUMN`: a type that cannot hold all values of the old one, or is not read from old files. */
export function unsupportedType(table: string, path: readonly string[], from: DataType, to: DataType): AnalysisException {
  const name = path.map((part) => `\`${part}\``).join('.');
  const quotedTable = table
    .split('.')
    .map((part) => `\`${part}\``)
    .join('.');
  return new AnalysisException({
    errorClass: 'NOT_SUPPORTED_CHANGE_COLUMN',
    kind: 'unsupported',
    message:
      `ALTER TABLE ALTER/CHANGE COLUMN is not supported for changing ${quotedTable}'s column ${name} with type "${sqlTypeName(from)}" to ` +
      `${name} with type "${sqlTypeName(to)}".`,
    parameters: { table, originName: name, originType: sqlTypeName(from), newName: name, newType: sqlTypeName(to) },
    hint: 'add a column of the other type and fill it',
  });
}
