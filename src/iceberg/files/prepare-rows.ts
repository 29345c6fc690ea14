import { AnalysisException } from '../../base/analysis-exception.ts';
import { literalSql, quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import { conversionCheck } from '../../rows/values/conversion-errors.ts';
import { convertValue, memberNamed } from '../../rows/values/convert-value.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import { columnTwice } from '../definition/definition-errors.ts';
import { writeDefault } from '../scan/initial-default.ts';
import { storedFormChecks } from './stored-form-checks.ts';

export type MatchOptions = Pick<WriteRequest, 'matchBy' | 'storeAssignment'>;

/** Given rows and what they become. */
export interface PreparedRows {
  /** The given rows under names of their own, for `checks`. */
  readonly source: Relation;
  /** The table's columns in order, in their types. */
  readonly rows: Relation;
  /** What the rows of `source` must not be for `rows` to be computed; to be ruled out first. */
  readonly checks: readonly RowCheck[];
}

/**
 * Given rows as rows of the table: columns matched by name (default, ignoring case) or by place, values cast by the ANSI rules of store
 * assignment, columns they lack filled by their default or null.
 *
 * @throws AnalysisException `INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS`, `….NOT_ENOUGH_DATA_COLUMNS` (21S01),
 * `INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS` (KD000), `COLUMN_ALREADY_EXISTS` (42711).
 */
export function prepareRows(table: string, schema: StructType, given: Relation, options: MatchOptions): PreparedRows {
  const byName = options.matchBy !== 'position';
  if (byName) refuseUnmatched(table, schema, given.schema);
  else if (given.schema.fields.length !== schema.fields.length) throw wrongArity(table, schema, given.schema);
  const source = numbered(given);
  const checks: RowCheck[] = [];
  const columns = schema.fields.map((field, index) => {
    const found = byName ? memberNamed(given.schema, field.name) : given.schema.fields[index];
    if (found === undefined) return `${missingValue(field)} AS ${quoteName(field.name)}`;
    const value = givenName(given.schema.fields.indexOf(found));
    const [types, path] = [{ from: found.type, to: field.type }, [field.name]];
    refuseMembers(table, types, { path, byPosition: !byName });
    const converted = convertValue(value, types, { rule: 'ansi', path, byPosition: !byName });
    checks.push(...converted.faults.map((fault) => conversionCheck(fault, table)));
    if (converted.faults.length === 0) checks.push(...storedFormChecks(converted.sql, field));
    return `${converted.sql} AS ${quoteName(field.name)}`;
  });
  return { source, rows: { sql: `SELECT ${columns.join(', ')} FROM (${source.sql})`, schema }, checks };
}

/** The given rows with names that their places give them: names that queries make may be there twice. */
function numbered(given: Relation): Relation {
  const fields = given.schema.fields.map((field, index) => ({ ...field, name: `__given_${index}` }));
  const names = fields.map((_, index) => givenName(index));
  return { sql: `SELECT * FROM (${given.sql}) AS given(${names.join(', ')})`, schema: { kind: 'struct', fields } };
}

function givenName(place: number): string {
  return `"__given_${place}"`;
}

function missingValue(field: Field): string {
  const value = writeDefault(field);
  return `CAST(${value === undefined ? 'NULL' : literalSql(value)} AS ${typeSql(field.type)})`;
}

function refuseUnmatched(table: string, schema: StructType, given: StructType): void {
  const seen = new Set<string>();
  for (const { name } of given.fields) {
    if (seen.has(name.toLowerCase())) throw columnTwice(name.toLowerCase());
    seen.add(name.toLowerCase());
  }
  if (given.fields.length > schema.fields.length) throw wrongArity(table, schema, given);
  const extra = given.fields.filter((field) => memberNamed(schema, field.name) === undefined);
  if (extra.length === 0) return;
  const extraColumns = named(extra);
  throw new AnalysisException({
    errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS',
    sqlState: 'KD000',
    message: `Cannot write incompatible data for the table ${table}: Cannot write extra columns ${extraColumns}.`,
    parameters: { tableName: table, extraColumns },
    hint: 'leave the columns out, rename them, or add them to the table first',
  });
}

/** Refuses members that the table has no place for, and by place those without a value. */
function refuseMembers(
  table: string,
  { from, to }: { readonly from: DataType; readonly to: DataType },
  at: { readonly path: readonly string[]; readonly byPosition: boolean },
): void {
  const inner = (types: { readonly from: DataType; readonly to: DataType }, part: string): void => {
    refuseMembers(table, types, { ...at, path: [...at.path, part] });
  };
  if (from.kind === 'list' && to.kind === 'list') inner({ from: from.element, to: to.element }, 'element');
  if (from.kind === 'map' && to.kind === 'map') {
    inner({ from: from.key, to: to.key }, 'key');
    inner({ from: from.value, to: to.value }, 'value');
  }
  if (from.kind !== 'struct' || to.kind !== 'struct') return;
  const extra = at.byPosition ? from.fields.slice(to.fields.length) : from.fields.filter(({ name }) => memberNamed(to, name) === undefined);
  if (extra.length > 0) throw wrongMembers(table, at.path, { kind: 'EXTRA_STRUCT_FIELDS', fields: extra });
  const missing = at.byPosition ? to.fields.slice(from.fields.length) : [];
  if (missing.length > 0) throw wrongMembers(table, at.path, { kind: 'STRUCT_MISSING_FIELDS', fields: missing });
  for (const [index, field] of to.fields.entries()) {
    const given = at.byPosition ? from.fields[index] : memberNamed(from, field.name);
    if (given !== undefined) inner({ from: given.type, to: field.type }, field.name);
  }
}

function wrongMembers(
  table: string,
  path: readonly string[],
  { kind, fields }: { readonly kind: 'EXTRA_STRUCT_FIELDS' | 'STRUCT_MISSING_FIELDS'; readonly fields: readonly Field[] },
): AnalysisException {
  const column = path.map((part) => `\`${part}\``).join('.');
  const names = named(fields);
  const problem =
    kind === 'EXTRA_STRUCT_FIELDS'
      ? `Cannot write extra fields ${names} to the struct ${column}`
      : `Struct ${column} missing fields: ${names}`;
  return new AnalysisException({
    errorClass: `INCOMPATIBLE_DATA_FOR_TABLE.${kind}`,
    sqlState: 'KD000',
    message: `Cannot write incompatible data for the table ${table}: ${problem}.`,
    parameters: { tableName: table, colName: column },
  });
}

function wrongArity(table: string, schema: StructType, given: StructType): AnalysisException {
  const many = given.fields.length > schema.fields.length;
  const [tableColumns, dataColumns] = [named(schema.fields), named(given.fields)];
  return new AnalysisException({
    errorClass: `INSERT_COLUMN_ARITY_MISMATCH.${many ? 'TOO_MANY' : 'NOT_ENOUGH'}_DATA_COLUMNS`,
    sqlState: '21S01',
    message: `Cannot write to ${table}, the reason is ${many ? 'too many' : 'not enough'} data columns:\nTable columns: ${tableColumns}.\nData columns: ${dataColumns}.`,
    parameters: { tableName: table, tableColumns, dataColumns },
    hint: 'name the columns that are inserted',
  });
}

function named(fields: readonly Field[]): string {
  return fields.map(({ name }) => `\`${name}\``).join(', ');
}
