import { present } from '../../base/assert.ts';
import type { BinaryOperator, Expression, Literal } from '../../expr/expression.ts';
import { conjuncts } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import type { DataType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import type { RowScope, Side } from '../change/row-scope.ts';
import type { RowWork } from '../row-work.ts';

/** Up to this many different keys are named one by one; more only by their range. */
const maxListedKeys = 32;

interface MergeSides {
  readonly scope: RowScope;
  readonly target: Side;
  readonly source: Side;
  /** The source's rows, whose columns `source.columnSql` finds under the alias `s`. */
  readonly sourceRows: Relation;
  /** How many different keys the source has, where it is known and the key is one column. */
  readonly distinctKeys?: number | undefined;
}

/**
 * What every row of the table that matches some source row satisfies, over the table's columns alone: parts of the condition that mention
 * nothing else, and the range of the source's values where the condition asks for equality. Conditions come without qualifiers.
 */
export async function matchableRows(work: RowWork, sides: MergeSides, bound: Expression): Promise<readonly Expression[]> {
  const found: Expression[] = [];
  for (const part of conjuncts(bound)) {
    if (onlyOf(sides, part, sides.target)) {
      found.push(unqualified(part));
      continue;
    }
    const key = equalityOf(sides, part);
    if (key !== undefined) found.push(...(await keyConditions(work, sides, key)));
  }
  return found;
}

interface Key {
  readonly column: Expression;
  readonly source: Expression;
}

function equalityOf(sides: MergeSides, part: Expression): Key | undefined {
  if (part.kind !== 'binary' || part.operator !== '=') return undefined;
  const { left, right } = part;
  if (left.kind === 'column' && onlyOf(sides, left, sides.target) && onlyOf(sides, right, sides.source)) {
    return { column: left, source: right };
  }
  if (right.kind === 'column' && onlyOf(sides, right, sides.target) && onlyOf(sides, left, sides.source)) {
    return { column: right, source: left };
  }
  return undefined;
}

function onlyOf(sides: MergeSides, expression: Expression, side: Side): boolean {
  const mentioned = sides.scope.sidesOf(expression);
  return mentioned.size === 1 && mentioned.has(side);
}

async function keyConditions(work: RowWork, sides: MergeSides, key: Key): Promise<readonly Expression[]> {
  const [columnType, type] = await sides.scope.typesOf(work.engine, [key.column, key.source], work.signal);
  const exact = type === undefined ? undefined : exactType(type);
  // Across types the engine compares by rules of its own; a range of the source's values need not be one of the column's.
  if (type === undefined || exact === undefined || columnType === undefined || !sameFamily(columnType, type)) return [];
  const value = sides.scope.sql(key.source);
  const from = `FROM (SELECT ${exact.sql(value)} AS k FROM (${sides.sourceRows.sql}) s WHERE ${value} IS NOT NULL)`;
  const distinct =
    (sides.distinctKeys ?? 0) > maxListedKeys
      ? undefined
      : await work.engine.rows(`SELECT DISTINCT k ${from} LIMIT ${maxListedKeys + 1}`, work.signal);
  const column = unqualified(key.column);
  const literal = (raw: unknown): Expression => ({ kind: 'literal', literal: exact.literal(String(raw)) });
  if (distinct !== undefined && distinct.length <= maxListedKeys) {
    const options = distinct.map(([raw]) => literal(raw));
    // Nothing equals a key of a source without keys.
    if (options.length === 0) return [{ kind: 'literal', literal: { type: 'boolean', value: false } }];
    return [{ kind: 'in', operand: column, options, negated: false }];
  }
  const [range] = await work.engine.rows(`SELECT min(k), max(k) ${from}`, work.signal);
  const [low, high] = present(range, 'an aggregate has one row');
  const bounded = (operator: BinaryOperator, raw: unknown): Expression => ({ kind: 'binary', operator, left: column, right: literal(raw) });
  return [bounded('>=', low), bounded('<=', high)];
}

interface ExactType {
  /** A form that arrives whole: 64-bit numbers or text, in the order of the values. */
  sql(value: string): string;
  literal(text: string): Literal;
}

function exactType(type: DataType): ExactType | undefined {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long': {
      const width = type.kind;
      return { sql: (value) => `CAST(${value} AS BIGINT)`, literal: (text) => ({ type: 'integer', value: BigInt(text), width }) };
    }
    case 'string':
      return { sql: (value) => value, literal: (text) => ({ type: 'string', value: text }) };
    case 'date':
      return {
        sql: (value) => `CAST(date_diff('day', DATE '1970-01-01', ${value}) AS BIGINT)`,
        literal: (text) => ({ type: 'date', days: Number(text) }),
      };
    case 'timestamp':
    case 'timestamp_ntz': {
      const kind = type.kind;
      return { sql: (value) => `epoch_us(${value})`, literal: (text) => ({ type: kind, micros: BigInt(text) }) };
    }
    default:
      return undefined;
  }
}

const integers: ReadonlySet<DataType['kind']> = new Set(['byte', 'short', 'integer', 'long']);

function sameFamily(left: DataType, right: DataType): boolean {
  return left.kind === right.kind || (integers.has(left.kind) && integers.has(right.kind));
}

function unqualified(expression: Expression): Expression {
  return mapExpression(expression, (node) => {
    if (node.kind !== 'column') return node;
    return { kind: 'column', path: node.path, ...(node.type === undefined ? {} : { type: node.type }) };
  });
}
