import type { Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import { printExpression } from '../../expr/print-expression.ts';
import { expressionSql, quoteName, typeSql } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import { type Attribute, type Nameable, nameable, type Output } from './analyzed.ts';
import { bindTo, framePrefix, plainAttribute } from './bind.ts';
import { columnSql } from './column-sql.ts';
import type { Execution } from './execution.ts';

/** An output before its names are found. Without a name it is named after its expression. */
export interface WantedOutput {
  readonly name?: string | undefined;
  readonly value: Expression;
}

/**
 * Values over the input as outputs with ids and types. A column taken over as it is keeps its id, so that conditions on it reach below.
 *
 * @param groups over the input, bound: the query is grouped by them.
 */
export async function outputsOf(
  execution: Execution,
  input: Nameable,
  wanted: readonly WantedOutput[],
  groups?: readonly Expression[],
): Promise<readonly Output[]> {
  const bound = wanted.map((output) => {
    const { name, value } = named(output);
    return { name, value: bindTo(value, input, execution.nowMicros) };
  });
  const computed = bound.filter(({ value }) => plainAttribute(value, input) === undefined);
  const types = computed.length === 0 ? [] : await computedFields(execution, input, computed, groups);
  const fields = new Map(computed.map((output, index) => [output, types[index]]));
  const used = new Set<string>();
  return bound.map((output) => {
    const plain = plainAttribute(output.value, input);
    const attribute =
      plain === undefined ? newAttribute(execution, output.name, fields.get(output)) : takenOver(execution, plain, output.name, used);
    used.add(attribute.id);
    return { attribute, value: output.value };
  });
}

/** A new column of the given name and type. */
export function newAttribute(execution: Execution, name: string, field: Field | undefined, qualifier?: string): Attribute {
  return {
    id: `${name.replaceAll('\u0000', '')}#${execution.nextNumber()}`,
    field: { type: { kind: 'string' }, nullable: true, ...field, name },
    qualifier,
    frames: [],
  };
}

/** Attributes for the columns of a source. */
export function sourceAttributes(execution: Execution, fields: readonly Field[], qualifier?: string): readonly Attribute[] {
  return fields.map((field) => newAttribute(execution, field.name, field, qualifier));
}

/** The name of an unnamed output: a column's own, also under a cast; else the expression as SQL. */
export function outputName(value: Expression): string {
  switch (value.kind) {
    case 'alias':
      return value.name;
    case 'column':
      return value.path.at(-1) ?? '';
    case 'cast':
      return isColumnUnderCasts(value) ? outputName(value.operand) : printed(value);
    case 'member':
      return value.name;
    default:
      return printed(value);
  }
}

/** Values that stand for the columns of the input, in a query of types alone: nothing is read. */
export function standInSql(attributes: readonly Attribute[]): string {
  if (attributes.length === 0) return 'SELECT 1';
  return `SELECT ${attributes.map(({ id, field }) => `CAST(NULL AS ${typeSql(field.type)}) AS ${quoteName(id)}`).join(', ')}`;
}

const one: Expression = { kind: 'literal', literal: { type: 'integer', value: 1n, width: 'integer' } };

function isColumnUnderCasts(value: Expression): boolean {
  return value.kind === 'cast' ? isColumnUnderCasts(value.operand) : value.kind === 'column';
}

function printed(value: Expression): string {
  return printExpression(
    mapExpression(value, (node) => {
      if (node.kind === 'column' && node.path[0]?.startsWith(framePrefix) === true) return { ...node, path: node.path.slice(1) };
      // Spark counts a one for each row, and names the column so.
      return node.kind === 'call' && node.star === true ? { ...node, star: false, arguments: [one] } : node;
    }),
  );
}

function named({ name, value }: WantedOutput): { readonly name: string; readonly value: Expression } {
  const inner = value.kind === 'alias' ? value.operand : value;
  return { name: name ?? outputName(value), value: inner };
}

function takenOver(execution: Execution, attribute: Attribute, name: string, used: ReadonlySet<string>): Attribute {
  if (attribute.field.name.toLowerCase() === name.toLowerCase() && !used.has(attribute.id)) return attribute;
  return newAttribute(execution, name, { ...attribute.field, name });
}

async function computedFields(
  execution: Execution,
  input: Nameable,
  computed: readonly { readonly name: string; readonly value: Expression }[],
  groups: readonly Expression[] | undefined,
): Promise<readonly Field[]> {
  const values = computed.map(({ value }, index) => `${expressionSql(value, columnSql)} AS ${quoteName(`v${index}`)}`);
  const grouping =
    groups === undefined || groups.length === 0 ? '' : ` GROUP BY ${groups.map((group) => expressionSql(group, columnSql)).join(', ')}`;
  const described = await execution.engine.describe(
    `SELECT ${values.join(', ')} FROM (${standInSql(nameable(input))}) AS "s"${grouping}`,
    execution.signal,
  );
  return described.fields.map((field, index) => ({ ...field, nullable: isNullable(computed[index]?.value) }));
}

function isNullable(value: Expression | undefined): boolean {
  if (value === undefined) return true;
  if (value.kind === 'literal') return value.literal.type === 'null';
  if (value.kind === 'call') return value.name.toLowerCase() !== 'count';
  return value.kind !== 'is' && value.kind !== 'is-distinct';
}
