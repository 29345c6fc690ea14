import { bindExpression } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression } from '../../expr/expression.ts';
import { columnPathSql, expressionSql, quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import { statementTime } from '../../expr/time-zone.ts';
import { type ConversionRule, convertValue, type MemberDifference } from '../../rows/values/convert-value.ts';
import { givenName, numbered } from '../../rows/values/numbered-rows.ts';
import type { RowCheck } from '../../rows/values/row-checks.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { conversionCheck } from './conversion-errors.ts';
import { duplicateColumn, wrongArity } from './data-column-errors.ts';
import { type IdentityColumn, identityColumn, identitySql, refuseExplicitValues } from './identity-columns.ts';
import { storedExpression } from './stored-expression.ts';

interface PrepareOptions {
  /** Columns by name, ignoring case, or by place. */
  readonly matchBy: 'name' | 'position';
  readonly rule: ConversionRule;
  /** Whether the members of structs in a column are matched by place; default: by name. */
  readonly structsByPlace?: ((column: Field, given: DataType) => boolean) | undefined;
  /** Told of structs that have other members than their columns. */
  readonly members?: ((difference: MemberDifference) => void) | undefined;
}

export interface PreparedRows {
  /** The given rows under names of their own, for `checks`. */
  readonly source: Relation;
  /** The snapshot's columns in order, in their types. */
  readonly rows: Relation;
  /** What the rows of `source` must not be for `rows` to be computed; to be ruled out first. */
  readonly checks: readonly RowCheck[];
  /** Columns that `rows` numbers on: every evaluation of `rows` may number differently. */
  readonly identities: readonly IdentityColumn[];
}

/**
 * Given rows as rows of the table: columns matched, values converted, missing columns filled by their default, their generation expression,
 * their sequence, or null. Columns that the table lacks must have been dealt with.
 *
 * @throws AnalysisException `DELTA_DUPLICATE_COLUMNS_FOUND` (42711), `DELTA_INSERT_COLUMN_ARITY_MISMATCH` (42802),
 * `DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED` (42808), `DELTA_UNSUPPORTED_STORED_EXPRESSION`.
 */
export function prepareRows(context: OperationContext, snapshot: DeltaSnapshot, given: Relation, options: PrepareOptions): PreparedRows {
  if (options.matchBy === 'name') refuseDuplicates(given.schema);
  const source = numbered(given);
  const checks: RowCheck[] = [];
  const identities: IdentityColumn[] = [];
  const plain: string[] = [];
  const generated = new Map<string, Expression>();
  for (const [index, field] of snapshot.schema.fields.entries()) {
    const place = placeOf(context, snapshot, given.schema, { field, index, matchBy: options.matchBy });
    const identity = identityColumn(field);
    const type = given.schema.fields[place]?.type;
    if (type !== undefined) {
      if (identity !== undefined) refuseExplicitValues(identity);
      const converted = convertValue(
        givenName(place),
        { from: type, to: field.type },
        {
          rule: options.rule,
          path: [field.name],
          zone: context.zone?.rule,
          byPosition: options.structsByPlace?.(field, type),
          members: options.members,
        },
      );
      checks.push(...converted.faults.map((fault) => conversionCheck(fault, options.rule)));
      plain.push(`${converted.sql} AS ${quoteName(field.name)}`);
    } else if (identity !== undefined) {
      identities.push(identity);
      plain.push(`${identitySql(identity)} AS ${quoteName(field.name)}`);
    } else {
      const expression = generationOf(context, field);
      if (expression === undefined) plain.push(`${missingValue(context, field)} AS ${quoteName(field.name)}`);
      else generated.set(field.name, expression);
    }
  }
  const sql = withGenerated(context, snapshot.schema, `SELECT ${plain.join(', ')} FROM (${source.sql})`, generated);
  return { source, rows: { sql, schema: snapshot.schema }, checks, identities };
}

/** The place of the given column that becomes the table's; -1: there is none. */
function placeOf(
  context: OperationContext,
  snapshot: DeltaSnapshot,
  given: StructType,
  column: { readonly field: Field; readonly index: number; readonly matchBy: PrepareOptions['matchBy'] },
): number {
  if (column.matchBy === 'name') {
    const found = fieldNamed(given.fields, column.field.name);
    return found === undefined ? -1 : given.fields.indexOf(found);
  }
  if (given.fields.length !== snapshot.schema.fields.length) {
    throw wrongArity(context.name, { table: snapshot.schema, data: given });
  }
  return column.index;
}

/** Puts the generated columns behind the others they are made of, then all in table order. */
function withGenerated(context: OperationContext, schema: StructType, plain: string, generated: ReadonlyMap<string, Expression>): string {
  const now = statementTime(context);
  const columns = schema.fields.map((field) => {
    const expression = generated.get(field.name);
    if (expression === undefined) return quoteName(field.name);
    const cast: Expression = { kind: 'cast', operand: expression, type: field.type, safe: false };
    const bound = bindNow(bindExpression(cast, [{ schema }]), now);
    return `${expressionSql(bound, columnPathSql)} AS ${quoteName(field.name)}`;
  });
  return `SELECT ${columns.join(', ')} FROM (${plain})`;
}

function generationOf(context: OperationContext, field: Field): Expression | undefined {
  const text = field.metadata?.['delta.generationExpression'];
  return typeof text === 'string' ? storedExpression(context.name, `generated column "${field.name}"`, text) : undefined;
}

/** Engine SQL of a column the rows do not have: its default, else null. */
function missingValue(context: OperationContext, field: Field): string {
  const text = field.metadata?.['CURRENT_DEFAULT'];
  if (typeof text !== 'string') return `CAST(NULL AS ${typeSql(field.type)})`;
  const expression = storedExpression(context.name, `default of column "${field.name}"`, text);
  const cast: Expression = { kind: 'cast', operand: expression, type: field.type, safe: false };
  return expressionSql(bindNow(bindExpression(cast, []), statementTime(context)), columnPathSql);
}

function refuseDuplicates(given: StructType): void {
  const seen = new Set<string>();
  for (const { name } of given.fields) {
    if (seen.has(name.toLowerCase())) throw duplicateColumn(name);
    seen.add(name.toLowerCase());
  }
}
