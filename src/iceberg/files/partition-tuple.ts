import { partitionValueSql, transformSql } from '../../engine/transform-sql.ts';
import { columnPathSql } from '../../expr/sql/engine-sql.ts';
import { parseDecimal } from '../../schema/decimal-text.ts';
import type { DataType } from '../../schema/types.ts';
import { resultType } from '../../table/partitioning/apply-transform.ts';
import type { PartitionValue } from '../metadata/content-file.ts';
import { fieldById } from '../metadata/schema-fields.ts';
import type { IcebergSchema, PartitionField, PartitionSpec } from '../metadata/table-metadata.ts';

/** How rows tell the partition they belong to, field by field. */
export interface PartitionTexts {
  /** Engine SQL over the columns of the schema: the value as text, NULL for null. */
  readonly sql: readonly string[];
  /** The tuple that such texts stand for. */
  readonly tupleOf: (texts: readonly (string | undefined)[]) => readonly PartitionValue[];
}

/**
 * @throws ServiceError `PARTITION_TRANSFORM_UNSUPPORTED` (unsupported) for transforms that are not known.
 */
export function partitionTexts(schema: IcebergSchema, spec: PartitionSpec): PartitionTexts {
  const types = spec.fields.map((field) => valueType(schema, field));
  return {
    sql: spec.fields.map((field, index) => fieldSql(schema, field, types[index])),
    tupleOf: (texts) => types.map((type, index) => valueOf(texts[index], type)),
  };
}

/** `undefined`: the field's column is gone, or the field is void; its values are null. */
function valueType(schema: IcebergSchema, { transform, sourceId }: PartitionField): DataType | undefined {
  const source = fieldById(schema, sourceId);
  return source === undefined || transform.kind === 'void' ? undefined : (resultType(transform, source.type) ?? source.type);
}

function fieldSql(schema: IcebergSchema, { transform, sourceId }: PartitionField, type: DataType | undefined): string {
  const source = fieldById(schema, sourceId);
  if (source === undefined || type === undefined) return 'CAST(NULL AS VARCHAR)';
  return partitionValueSql(transformSql(transform, columnPathSql(source.path), source.type), type);
}

function valueOf(text: string | undefined, type: DataType | undefined): PartitionValue {
  if (text === undefined || type === undefined) return undefined;
  switch (type.kind) {
    case 'boolean':
      return text === 'true';
    case 'byte':
    case 'short':
    case 'integer':
    case 'date':
      return Number(text);
    case 'long':
    case 'time':
    case 'timestamp':
    case 'timestamp_ntz':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return BigInt(text);
    case 'float':
      return Math.fround(floating(text));
    case 'double':
      return floating(text);
    case 'decimal':
      return parseDecimal(text, type.precision, type.scale);
    case 'binary':
      return Uint8Array.from(Buffer.from(text, 'hex'));
    default:
      return text;
  }
}

function floating(text: string): number {
  return Number(text.replace(/^(-?)inf$/i, '$1Infinity').replace(/^-?nan$/i, 'NaN'));
}
