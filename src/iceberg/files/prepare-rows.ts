import { AnalysisException } from '../../base/analysis-exception.ts';
import { literalSql, quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import { conversionCheck, unlikeMembers, wrongMembers } from '../../rows/values/conversion-errors.ts';
import { convertValue, type MemberDifference } from '../../rows/values/convert-value.ts';
import { givenName, numbered } from '../../rows/values/numbered-rows.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import { columnExists } from '../../schema/column-exists.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { WriteRequest } from '../../table/row-operations.ts';
import { writeDefault } from '../scan/initial-default.ts';
import { storedFormChecks } from './stored-form-checks.ts';

export interface MatchOptions extends Pick<WriteRequest, 'matchBy' | 'storeAssignment' | 'structs' | 'zone'> {
  /** Told of structs that have other members than their columns. Default: refuses them as INSERT does. */
  readonly members?: ((difference: MemberDifference) => void) | undefined;
}

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
  const refuseMembers = (difference: MemberDifference): void => {
    throw byName ? unlikeMembers(difference, table) : wrongMembers(difference, table);
  };
  const columns = schema.fields.map((field, index) => {
    const found = byName ? fieldNamed(given.schema.fields, field.name) : given.schema.fields[index];
    if (found === undefined) return `${missingValue(field)} AS ${quoteName(field.name)}`;
    const value = givenName(given.schema.fields.indexOf(found));
    const [types, path] = [{ from: found.type, to: field.type }, [field.name]];
    const converted = convertValue(value, types, {
      rule: 'ansi',
      path,
      zone: options.zone?.rule,
      byPosition: !byName || listedInFull(options, types),
      members: options.members ?? refuseMembers,
    });
    checks.push(...converted.faults.map((fault) => conversionCheck(fault, table)));
    if (converted.faults.length === 0) checks.push(...storedFormChecks(converted.sql, field));
    return `${converted.sql} AS ${quoteName(field.name)}`;
  });
  return { source, rows: { sql: `SELECT ${columns.join(', ')} FROM (${source.sql})`, schema }, checks };
}

/** With a list of columns, a struct that has as many members as its column is matched by place, as Spark does. */
function listedInFull({ structs }: MatchOptions, { from, to }: { readonly from: DataType; readonly to: DataType }): boolean {
  return structs === 'listed' && from.kind === 'struct' && to.kind === 'struct' && from.fields.length === to.fields.length;
}

function missingValue(field: Field): string {
  const value = writeDefault(field);
  return `CAST(${value === undefined ? 'NULL' : literalSql(value)} AS ${typeSql(field.type)})`;
}

function refuseUnmatched(table: string, schema: StructType, given: StructType): void {
  const seen = new Set<string>();
  for (const { name } of given.fields) {
    if (seen.has(name.toLowerCase())) throw columnExists(name.toLowerCase());
    seen.add(name.toLowerCase());
  }
  if (given.fields.length > schema.fields.length) throw wrongArity(table, schema, given);
  const extra = given.fields.filter((field) => fieldNamed(schema.fields, field.name) === undefined);
  if (extra.length === 0) return;
  const extraColumns = named(extra);
  throw new AnalysisException({
    errorClass: 'INCOMPATIBLE_DATA_FOR_TABLE.EXTRA_COLUMNS',
    message: `Cannot write incompatible data for the table ${table}: Cannot write extra columns ${extraColumns}.`,
    parameters: { tableName: table, extraColumns },
    hint: 'leave the columns out, rename them, or add them to the table first',
  });
}

function wrongArity(table: string, schema: StructType, given: StructType): AnalysisException {
  const many = given.fields.length > schema.fields.length;
  const [tableColumns, dataColumns] = [named(schema.fields), named(given.fields)];
  return new AnalysisException({
    errorClass: `INSERT_COLUMN_ARITY_MISMATCH.${many ? 'TOO_MANY' : 'NOT_ENOUGH'}_DATA_COLUMNS`,
    message: `Cannot write to ${table}, the reason is ${many ? 'too many' : 'not enough'} data columns:\nTable columns: ${tableColumns}.\nData columns: ${dataColumns}.`,
    parameters: { tableName: table, tableColumns, dataColumns },
    hint: 'name the columns that are inserted',
  });
}

function named(fields: readonly Field[]): string {
  return fields.map(({ name }) => `\`${name}\``).join(', ');
}
