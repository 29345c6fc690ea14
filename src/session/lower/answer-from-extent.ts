import { type Expression, type Literal, nullExpression, nullLiteral } from '../../expr/expression.ts';
import { hasAggregate, mapExpression, someNode } from '../../expr/expression-tree.ts';
import type { Field } from '../../schema/types.ts';
import { type ColumnExtent, type ExtentColumn, hasExactBounds, type TableExtent } from '../../table/table-extent.ts';

/** The column of the table that an expression's column is. */
export type FieldOf = (column: Extract<Expression, { readonly kind: 'column' }>) => Field | undefined;

/** An aggregate over all rows of a table that its metadata may tell. */
type Told = { readonly what: 'rows' } | { readonly what: 'values' | 'min' | 'max'; readonly field: Field };

/** What the aggregates among the values ask of the table; `undefined` when there is something that only rows tell. */
export function extentQuestion(values: readonly Expression[], fieldOf: FieldOf): readonly ExtentColumn[] | undefined {
  const asked: Told[] = [];
  for (const value of values) {
    const rest = mapExpression(value, (node) => {
      const told = toldOf(node, fieldOf);
      if (told === undefined) return node;
      asked.push(told);
      return nullExpression;
    });
    if (hasAggregate(rest) || someNode(rest, ({ kind }) => kind === 'column' || kind === 'star')) return undefined;
  }
  return asked.length === 0 ? undefined : columnsOf(asked);
}

function columnsOf(asked: readonly Told[]): readonly ExtentColumn[] {
  const columns = new Map<string, ExtentColumn>();
  for (const told of asked) {
    if (told.what === 'rows') continue;
    const { field, what } = told;
    columns.set(field.name, { field, bounds: what !== 'values' || columns.get(field.name)?.bounds === true });
  }
  return [...columns.values()];
}

/** A value with its aggregates put in. */
export function answeredValue(value: Expression, extent: TableExtent, fieldOf: FieldOf): Expression {
  return mapExpression(value, (node) => {
    const told = toldOf(node, fieldOf);
    return told === undefined ? node : answer(told, extent);
  });
}

function toldOf(node: Expression, fieldOf: FieldOf): Told | undefined {
  if (node.kind !== 'call' || node.over !== undefined || node.distinct === true || node.filter !== undefined) return undefined;
  const name = node.name.toLowerCase();
  if (name !== 'count' && name !== 'min' && name !== 'max') return undefined;
  const [argument, ...more] = node.arguments;
  if (name === 'count' && (node.star === true || (argument?.kind === 'literal' && argument.literal.type !== 'null'))) {
    return more.length === 0 ? { what: 'rows' } : undefined;
  }
  if (argument?.kind !== 'column' || more.length > 0) return undefined;
  const field = fieldOf(argument);
  if (field === undefined || (name !== 'count' && !hasExactBounds(field))) return undefined;
  return { what: name === 'count' ? 'values' : name, field };
}

function answer(told: Told, { rows, columns }: TableExtent): Expression {
  if (told.what === 'rows') return long(rows);
  const { field, what } = told;
  const column = columns.get(field.name);
  if (what === 'values') return long(rows - (column?.nulls ?? 0n));
  return { kind: 'cast', operand: { kind: 'literal', literal: boundLiteral(column, field, what) }, type: field.type, safe: false };
}

function boundLiteral(column: ColumnExtent | undefined, { type }: Field, side: 'min' | 'max'): Literal {
  const value = column?.bounds?.[side];
  if (value === undefined) return nullLiteral;
  return type.kind === 'date' ? { type: 'date', days: Number(value) } : { type: 'integer', value, width: 'long' };
}

function long(value: bigint): Expression {
  return { kind: 'literal', literal: { type: 'integer', value, width: 'long' } };
}
