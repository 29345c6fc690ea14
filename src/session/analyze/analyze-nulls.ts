import { conjunction, type Expression, type Literal } from '../../expr/expression.ts';
import type { DataType } from '../../schema/types.ts';
import { type Analyzed, type Attribute, attributeColumn } from '../plan/analyzed.ts';
import type { Plan } from '../plan/plan.ts';
import type { Execution } from '../run/execution.ts';
import { attributeNamed } from './analyze-projection.ts';
import { newAttribute } from './outputs.ts';

/** Nulls (and NaN) replaced in the columns that a value fits: numbers in numeric columns, text in string columns, booleans in boolean ones. */
export function analyzeFill(execution: Execution, plan: Plan & { readonly kind: 'fill' }, input: Analyzed): Analyzed {
  const replacements = new Map<string, Literal>();
  const chosen = plan.columns === undefined ? input.attributes : plan.columns.map((name) => attributeNamed(name, input));
  for (const { column, value } of plan.values) {
    const targets = column === undefined ? chosen : [attributeNamed(column, input)];
    for (const { id, field } of targets) if (fits(value, field.type)) replacements.set(id, value);
  }
  // A filled column is another one, with an id of its own: conditions on it must not reach below.
  const outputs = input.attributes.map((attribute) => {
    const value = replacements.get(attribute.id);
    if (value === undefined) return { attribute, value: attributeColumn(attribute) };
    const { field, qualifier } = attribute;
    return { attribute: newAttribute(execution, field.name, { ...field, nullable: false }, qualifier), value: fillValue(attribute, value) };
  });
  return { kind: 'project', outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
}

export function analyzeDropNulls(plan: Plan & { readonly kind: 'drop-nulls' }, input: Analyzed): Analyzed {
  const chosen = plan.columns === undefined ? input.attributes : plan.columns.map((name) => attributeNamed(name, input));
  if (chosen.length === 0) return input;
  const present = chosen.map(hasValue);
  const needed = plan.threshold ?? (plan.how === 'any' ? chosen.length : 1);
  const condition = needed >= chosen.length ? conjunction(present) : atLeast(needed, present);
  if (condition === undefined) return input;
  return { kind: 'filter', condition, input, attributes: input.attributes, hidden: input.hidden };
}

function fillValue(attribute: Attribute, value: Literal): Expression {
  const column = attributeColumn(attribute);
  const { type } = attribute.field;
  const filling: Expression = {
    kind: 'cast',
    operand: { kind: 'literal', literal: value },
    type,
    safe: false,
  };
  return { kind: 'case', branches: [{ when: hasValue(attribute), then: column }], otherwise: filling };
}

function hasValue(attribute: Attribute): Expression {
  const column = attributeColumn(attribute);
  const notNull: Expression = { kind: 'is', operand: column, test: 'null', negated: true };
  if (!isFloating(attribute.field.type)) return notNull;
  const nan: Expression = { kind: 'call', name: 'isnan', arguments: [column] };
  return { kind: 'binary', operator: 'and', left: notNull, right: { kind: 'unary', operator: 'not', operand: nan } };
}

/** The sum of 1 for each that holds reaches the number. */
function atLeast(needed: number, conditions: readonly Expression[]): Expression | undefined {
  const number = (value: bigint): Expression => ({ kind: 'literal', literal: { type: 'integer', value, width: 'integer' } });
  const ones = conditions.map((when): Expression => ({ kind: 'case', branches: [{ when, then: number(1n) }], otherwise: number(0n) }));
  const sum = ones.reduce<Expression | undefined>(
    (left, right) => (left === undefined ? right : { kind: 'binary', operator: '+', left, right }),
    undefined,
  );
  return sum === undefined ? undefined : { kind: 'binary', operator: '>=', left: sum, right: number(BigInt(needed)) };
}

function fits(value: Literal, type: DataType): boolean {
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
    case 'float':
    case 'double':
    case 'decimal':
      return value.type === 'integer' || value.type === 'double' || value.type === 'decimal';
    case 'string':
      return value.type === 'string';
    case 'boolean':
      return value.type === 'boolean';
    default:
      return false;
  }
}

function isFloating(type: DataType): boolean {
  return type.kind === 'float' || type.kind === 'double';
}
