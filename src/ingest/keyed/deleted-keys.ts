import { serviceError } from '../../base/errors.ts';
import type { ColumnSource, DecodeSpec, DeletedMark, OnTruncate } from '../../protocol/sealed-batch.ts';
import type { TransformOutput, TransformSpec } from '../../protocol/transform-spec.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import { mayBeUnavailable } from '../decode/replaced-rows.ts';
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
  /** A member that a record does not have leaves the column of its row as it is. */
  readonly patches: boolean;
  readonly onTruncate: OnTruncate;
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
export function keyedDecoding(spec: DecodeSpec, settings: KeyedSettings, table: StructType): DecodeSpec {
  const { keyColumns, orderColumns, deleteWhen, onTruncate } = settings;
  const { deleted, ...decoding } = marked(spec, deleteWhen, table);
  const keyed = { keyColumns, orderColumns, deleted, onTruncate };
  const columns = absentColumns(spec, settings, table);
  if (columns.length === 0) return { ...decoding, keyed };
  const field: Field = { ...addedField({ kind: 'struct', fields: fieldsWith(table, deleted) }, '__leaves'), type: { kind: 'binary' } };
  const source: ColumnSource = { kind: 'absent', columns, when: settings.patches ? 'missing' : 'unavailable' };
  const { transform } = decoding;
  const read = { ...decoding, sources: [...decoding.sources, source], keyed: { ...keyed, absent: { field, columns } } };
  return transform === undefined ? read : { ...read, transform: withRecordField(transform, field) };
}

/**
 * Columns that a record may leave as they are, which it does by its members alone: behind a transform of the route nobody can tell. Columns that must
 * have a value have none to leave when their key is new.
 */
function absentColumns({ transform, sources, value }: DecodeSpec, settings: KeyedSettings, { fields }: StructType): readonly string[] {
  const isEvent = value?.envelope !== undefined;
  if (transform !== undefined || !(isEvent || settings.patches)) return [];
  const whole = new Set([...settings.keyColumns, ...settings.orderColumns]);
  return fields.flatMap(({ name, nullable, type }, index) => {
    const mayBeAbsent = settings.patches || mayBeUnavailable(type);
    return sources[index]?.kind === 'value' && nullable && !whole.has(name) && mayBeAbsent ? [name] : [];
  });
}

function fieldsWith({ fields }: StructType, deleted: DeletedMark): readonly Field[] {
  return deleted.kind === 'added' ? [...fields, deleted.field] : fields;
}

/** Reads one more field of the record, and has it as it is. */
function withRecordField(transform: TransformSpec, field: Field): TransformSpec {
  const column = transform.record.fields.length;
  const record: StructType = { kind: 'struct', fields: [...transform.record.fields, field] };
  return withOutput({ ...transform, record }, { kind: 'record', column });
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
  return { ...read, transform: withRecordField(transform, field) };
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
function addedField({ fields }: StructType, wanted = '__deletes_key'): Field {
  let name = wanted;
  while (fields.some((field) => field.name.toLowerCase() === name)) name = `_${name}`;
  return { name, type: { kind: 'boolean' }, nullable: true };
}
