import { serviceError } from '../../base/errors.ts';
import type { ColumnSource, DecodeSpec, DeletedMark } from '../../protocol/sealed-batch.ts';
import type { TransformOutput, TransformSpec } from '../../protocol/transform-spec.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { compileTransform } from '../transform/compile-transform.ts';

/** When a record deletes its key: never, by the operation of its event, when it has no value, or when a condition over its columns holds. */
export type DeleteWhen =
  | { readonly kind: 'never' }
  | { readonly kind: 'operation' }
  | { readonly kind: 'tombstone' }
  | { readonly kind: 'condition'; readonly condition: string };

/** How a table has one row for each key. */
export interface KeyedSettings {
  readonly keyColumns: readonly string[];
  readonly orderColumns: readonly string[];
  readonly deleteWhen: DeleteWhen;
}

/** Types whose values are equal exactly when their bits are. */
export const keyTypes: ReadonlySet<DataType['kind']> = new Set([
  'byte',
  'short',
  'integer',
  'long',
  'decimal',
  'string',
  'date',
  'timestamp',
  'timestamp_ntz',
]);

/** What of Debezium's events says that a row was deleted. */
const deletedMember: ColumnSource = { kind: 'value', name: '__deleted' };

/**
 * How records are decoded so that each row says whether it deletes its key.
 *
 * @param table columns of the table, in the order of `spec`.
 * @throws ServiceError `TRANSFORM_INVALID` (kind invalid) for a condition that cannot be.
 */
export function keyedDecoding(spec: DecodeSpec, { keyColumns, orderColumns, deleteWhen }: KeyedSettings, table: StructType): DecodeSpec {
  const { deleted, ...decoding } = marked(spec, deleteWhen, table);
  return { ...decoding, keyed: { keyColumns, orderColumns, deleted } };
}

function marked(spec: DecodeSpec, deleteWhen: DeleteWhen, table: StructType): DecodeSpec & { readonly deleted: DeletedMark } {
  switch (deleteWhen.kind) {
    case 'never':
      return { ...spec, deleted: { kind: 'none' } };
    case 'operation':
      return withMember(spec, deletedMember, table);
    case 'tombstone':
      return withMember(spec, { kind: 'tombstone' }, table);
    case 'condition':
      return withCondition(spec, deleteWhen.condition, table);
  }
}

/** Reads one more of the record, unless a column has it already. */
function withMember(spec: DecodeSpec, source: ColumnSource, table: StructType): DecodeSpec & { readonly deleted: DeletedMark } {
  const { transform, sources } = spec;
  const record = transform?.record ?? table;
  const known = sources.findIndex(
    (each) => each.kind === source.kind && (each.kind !== 'value' || source.kind !== 'value' || each.name === source.name),
  );
  const found = record.fields[known];
  if (found !== undefined) {
    if (transform === undefined) return { ...spec, deleted: { kind: 'column', name: found.name } };
    const field = { ...addedField(table), type: found.type };
    return { ...spec, transform: withOutput(transform, { kind: 'record', column: known }), deleted: { kind: 'added', field } };
  }
  const field = addedField({ kind: 'struct', fields: [...table.fields, ...record.fields] });
  const read = { ...spec, sources: [...sources, source], deleted: { kind: 'added', field } } as const;
  if (transform === undefined) return read;
  const more: StructType = { kind: 'struct', fields: [...record.fields, field] };
  return { ...read, transform: withOutput({ ...transform, record: more }, { kind: 'record', column: record.fields.length }) };
}

function withCondition(spec: DecodeSpec, condition: string, table: StructType): DecodeSpec & { readonly deleted: DeletedMark } {
  const transform = spec.transform ?? compileTransform({}, { record: table, table }).spec;
  const expression = compiledCondition(condition, transform.record, table);
  const output: TransformOutput = { kind: 'computed', expression };
  return { ...spec, transform: withOutput(transform, output), deleted: { kind: 'added', field: addedField(table) } };
}

/** @throws ServiceError `TRANSFORM_INVALID` (kind invalid). */
function compiledCondition(condition: string, record: StructType, table: StructType): NonNullable<TransformSpec['where']> {
  const { spec, problems } = compileTransform({ where: condition }, { record, table });
  const problem = problems.find(({ path }) => path[0] === 'where');
  if (problem === undefined && spec.where !== undefined) return { ...spec.where, place: `deleteWhen "${condition}"` };
  throw serviceError.invalid('TRANSFORM_INVALID', `deleteWhen: ${problem?.message ?? condition}`, {
    hint: 'give a condition over the columns of the record, or one of operation, tombstone and never',
  });
}

function withOutput(transform: TransformSpec, output: TransformOutput): TransformSpec {
  return { ...transform, outputs: [...transform.outputs, output] };
}

/** A boolean under a name that no column has. */
function addedField({ fields }: StructType): Field {
  let name = '__deletes_key';
  while (fields.some((field) => field.name.toLowerCase() === name)) name = `_${name}`;
  return { name, type: { kind: 'boolean' }, nullable: true };
}
