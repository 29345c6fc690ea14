import { AnalysisException } from '../../base/analysis-exception.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import { wrongArity } from '../files/data-column-errors.ts';

/** Whether the members of structs in a column are matched by place. */
export type StructRule = (column: Field, given: DataType) => boolean;

/** Members by name, as everywhere but in SQL's INSERT. */
export const structsByName: StructRule = () => false;

/**
 * How INSERT matches the members of structs, as Delta does. By place as soon as anything of the rows must be renamed or cast to be the
 * table's: only rows that have the table's names and types as they are, in whatever order, are taken by name. With a list of columns, a
 * struct that has as many members as its column is matched by place even then.
 */
export function structRule(table: StructType, request: WriteRequest): StructRule {
  if (request.storeAssignment !== true || request.structs === 'by-name') return structsByName;
  if (!readsAsTable(table, request)) return () => true;
  if (request.structs !== 'listed') return structsByName;
  return ({ type }, given) => type.kind === 'struct' && given.kind === 'struct' && type.fields.length === given.fields.length;
}

function readsAsTable(table: StructType, { rows, matchBy }: WriteRequest): boolean {
  const given = rows.schema;
  if (matchBy === 'position') {
    const first = given.fields.slice(0, table.fields.length);
    const named = first.every(({ name }, index) => name === table.fields[index]?.name);
    return named && readsAs(table, { kind: 'struct', fields: first });
  }
  const meant = table.fields.filter(({ name }) => fieldNamed(given.fields, name) !== undefined);
  return readsAs({ kind: 'struct', fields: meant }, given);
}

/** Whether rows have all columns of the table under their names and in their types. They may have more. */
function readsAs(table: DataType, given: DataType): boolean {
  if (table.kind === 'struct' && given.kind === 'struct') {
    return table.fields.every((field) => {
      const found = given.fields.find(({ name }) => name === field.name);
      return found !== undefined && readsAs(field.type, found.type);
    });
  }
  if (table.kind === 'list' && given.kind === 'list') return readsAs(table.element, given.element);
  if (table.kind === 'map' && given.kind === 'map') return readsAs(table.key, given.key) && readsAs(table.value, given.value);
  return table.kind === given.kind && describeType(table) === describeType(given);
}

/**
 * Refuses structs that cannot be matched by place: they have every member; what they have beyond them has a name of its own.
 *
 * @throws AnalysisException `DELTA_INSERT_COLUMN_ARITY_MISMATCH` (42802), `DELTA_DUPLICATE_COLUMNS_FOUND` (42711),
 * `DELTA_COLUMN_STRUCT_TYPE_MISMATCH` (2200G).
 */
export function refuseMisplacedMembers(name: string, table: StructType, request: WriteRequest, byPlace: StructRule): void {
  const given = request.rows.schema;
  for (const [index, field] of table.fields.entries()) {
    const found = request.matchBy === 'position' ? given.fields[index] : fieldNamed(given.fields, field.name);
    if (found !== undefined && byPlace(field, found.type)) refuseMisplaced(name, { from: found.type, to: field.type }, [field.name]);
  }
}

function refuseMisplaced(name: string, { from, to }: { readonly from: DataType; readonly to: DataType }, path: readonly string[]): void {
  if (from.kind === 'list' && to.kind === 'list') refuseMisplaced(name, { from: from.element, to: to.element }, [...path, 'element']);
  if (from.kind === 'map' && to.kind === 'map') {
    refuseMisplaced(name, { from: from.key, to: to.key }, [...path, 'key']);
    refuseMisplaced(name, { from: from.value, to: to.value }, [...path, 'value']);
  }
  if (from.kind !== 'struct') return;
  if (to.kind !== 'struct') {
    if (path.length > 1) throw structForOther(name, path, to);
    return;
  }
  if (from.fields.length < to.fields.length) throw wrongArity(name, { table: to, data: from }, path);
  for (const [index, field] of to.fields.entries()) {
    const given = from.fields[index];
    if (given !== undefined) refuseMisplaced(name, { from: given.type, to: field.type }, [...path, field.name]);
  }
  const twice = from.fields.slice(to.fields.length).find((extra) => fieldNamed(to.fields, extra.name) !== undefined);
  if (twice !== undefined) throw memberTwice(twice.name);
}

function memberTwice(name: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA',
    message: `Found duplicate column(s): ${name}, ${name}. The duplicate was found in the schema of the data being read.`,
    parameters: { duplicateCols: `${name}, ${name}` },
    hint: 'members of structs were matched by place; INSERT … BY NAME matches them by name',
  });
}

function structForOther(tableName: string, path: readonly string[], type: DataType): AnalysisException {
  const target = path.join('.');
  return new AnalysisException({
    errorClass: 'DELTA_COLUMN_STRUCT_TYPE_MISMATCH',
    message: `A struct cannot be inserted into a ${describeType(type)} field ${target} in ${tableName}.`,
    parameters: { source: target, targetType: describeType(type), targetField: target, targetTable: tableName },
    hint: 'members of structs were matched by place; INSERT … BY NAME matches them by name',
  });
}
