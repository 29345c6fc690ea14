import { present } from '../../base/assert.ts';
import { settledType } from '../../expr/common-type.ts';
import type { Expression } from '../../expr/expression.ts';
import { isAggregate, mapChildren } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import type { Field, StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { newAttribute, sourceAttributes } from '../analyze/outputs.ts';
import { lowerPlan } from '../lower/lower.ts';
import { type Analyzed, attributeColumn, type Output } from '../plan/analyzed.ts';
import type { Execution } from '../run/execution.ts';
import { type SplitAggregate, splitAggregate, streamedAggregates } from './partial-aggregates.ts';
import { type AggregateNode, unsupportedStream } from './stream-plan.ts';

/** Of merged groups: whether rows of the batch are among theirs. */
const changedColumn = 'changed';

/**
 * An aggregation over a stream, taken apart: what one batch adds, how that becomes one with the groups kept before, and the result of those.
 * Kept groups are rows of `schema`: the keys, then a few values for each aggregate.
 */
export class KeptAggregation {
  readonly #execution: Execution;
  readonly #node: AggregateNode;
  readonly #keys: readonly Expression[];
  readonly #splits: ReadonlyMap<string, { readonly split: SplitAggregate; readonly first: number }>;

  /** @throws AnalysisException `STREAMING_OPERATION_NOT_SUPPORTED` for subtotals, and for aggregates that need all rows. */
  constructor(execution: Execution, node: AggregateNode) {
    this.#execution = execution;
    this.#node = node;
    const groups = node.kind === 'aggregate' ? node.groups : [];
    if (groups.some(({ kind }) => kind !== 'key')) throw unsupportedStream('subtotals (ROLLUP, CUBE, GROUPING SETS)');
    this.#keys = groups.flatMap(({ sets }) => sets.flat());
    this.#splits = splitsOf(node, this.#keys.map(textOf));
  }

  /** The groups of a batch's rows, of the input that the plan has below the aggregation. */
  async partial(): Promise<Relation> {
    const parts = this.#parts();
    const outputs = [
      ...this.#keys.map((value, index) => this.#output(`key${index}`, value)),
      ...parts.map(({ partial }, index) => this.#output(`${partial.name.toLowerCase()}${index}`, partial)),
    ];
    const groups = this.#node.kind === 'aggregate' ? this.#node.groups : [];
    const node: Analyzed = {
      kind: 'aggregate',
      groups,
      outputs,
      input: this.#node.input,
      attributes: outputs.map((each) => each.attribute),
    };
    const relation = await lowerPlan(this.#execution, node);
    const described = await this.#execution.engine.describe(relation.sql, this.#execution.signal);
    const fields = relation.schema.fields.map((field, index): Field => {
      const known = outputs[index] === undefined ? undefined : expressionType(outputs[index].value);
      return { ...field, nullable: true, type: settledType(known ?? present(described.fields[index], 'the engine has each column').type) };
    });
    return { sql: relation.sql, schema: { kind: 'struct', fields } };
  }

  /** Groups of before and of the batch as one, with a column that tells which the batch has. */
  merged(before: Relation | undefined, partial: Relation): Promise<Relation> {
    const { schema } = partial;
    const sides = [`SELECT *, true AS "${changedColumn}" FROM (${partial.sql})`];
    if (before !== undefined) sides.push(`SELECT *, false AS "${changedColumn}" FROM (${before.sql})`);
    const fields: readonly Field[] = [...schema.fields, { name: changedColumn, type: { kind: 'boolean' }, nullable: false }];
    const union: Relation = { sql: sides.join(' UNION ALL '), schema: { kind: 'struct', fields } };
    const attributes = sourceAttributes(this.#execution, fields);
    const columns = attributes.map(attributeColumn);
    const keys = columns.slice(0, this.#keys.length);
    const values: Expression[] = [...keys];
    for (const { split, first } of this.#splits.values()) {
      const own = columns.slice(keys.length + first, keys.length + first + split.parts.length);
      values.push(...split.parts.map(({ merge }, index) => merge(present(own[index], 'a part has a column'), own)));
    }
    values.push({ kind: 'call', name: 'bool_or', arguments: columns.slice(-1) });
    const outputs = values.map((value, index): Output => {
      const field = present(fields[index], 'a value has a column');
      const cast: Expression = index < keys.length ? value : { kind: 'cast', operand: value, type: field.type, safe: false };
      return { attribute: newAttribute(this.#execution, field.name, field), value: cast };
    });
    const groups = keys.map((key) => ({ kind: 'key' as const, sets: [[key]] }));
    const input: Analyzed = { kind: 'relation', relation: union, attributes };
    return lowerPlan(this.#execution, { kind: 'aggregate', groups, outputs, input, attributes: outputs.map((each) => each.attribute) });
  }

  /** `plan` with the result of kept groups in the place of the aggregation: of all, or of those that the batch changed. */
  resultIn(plan: Analyzed, merged: Relation, rows: 'all' | 'changed'): Analyzed {
    const attributes = sourceAttributes(this.#execution, merged.schema.fields);
    const columns = attributes.map(attributeColumn);
    const finished = (expression: Expression): Expression => this.#finished(expression, columns);
    let input: Analyzed = { kind: 'relation', relation: merged, attributes };
    const filtered = (condition: Expression): Analyzed => ({ kind: 'filter', condition, input, attributes });
    if (rows === 'changed') input = filtered(present(columns.at(-1), 'merged groups tell what changed'));
    if (this.#node.kind === 'aggregate' && this.#node.having !== undefined) input = filtered(finished(this.#node.having));
    const outputs = this.#node.outputs.map(({ attribute, value }): Output => ({ attribute, value: finished(value) }));
    return replaced(plan, this.#node, { kind: 'project', outputs, input, attributes: this.#node.attributes });
  }

  #finished(expression: Expression, columns: readonly Expression[]): Expression {
    const text = textOf(expression);
    const key = this.#keys.findIndex((each) => textOf(each) === text);
    if (key >= 0) return present(columns[key], 'a key has a column');
    const aggregate = isAggregate(expression) ? this.#splits.get(text) : undefined;
    if (aggregate === undefined) return mapChildren(expression, (child) => this.#finished(child, columns));
    const first = this.#keys.length + aggregate.first;
    return aggregate.split.finish(columns.slice(first, first + aggregate.split.parts.length));
  }

  #parts(): SplitAggregate['parts'] {
    return [...this.#splits.values()].flatMap(({ split }) => split.parts);
  }

  #output(name: string, value: Expression): Output {
    const type = expressionType(value);
    return { attribute: newAttribute(this.#execution, name, type === undefined ? undefined : { name, type, nullable: true }), value };
  }
}

/** The columns that a file of kept groups has. */
export function keptColumns({ fields }: StructType): StructType {
  return { kind: 'struct', fields: fields.filter(({ name }) => name !== changedColumn) };
}

/** How each aggregate that is computed is kept, by its text, and the place of its first part. */
function splitsOf(
  node: AggregateNode,
  keys: readonly string[],
): ReadonlyMap<string, { readonly split: SplitAggregate; readonly first: number }> {
  const splits = new Map<string, { readonly split: SplitAggregate; readonly first: number }>();
  let parts = 0;
  const collect = (expression: Expression): Expression => {
    const text = textOf(expression);
    if (keys.includes(text)) return expression;
    if (!isAggregate(expression)) return mapChildren(expression, collect);
    if (splits.has(text)) return expression;
    const split = splitAggregate(expression);
    if (split === undefined) {
      const name = `${expression.name}${expression.distinct === true ? '(DISTINCT …)' : ''}`;
      throw unsupportedStream(`the aggregate ${name}`, `aggregates whose state is small: ${streamedAggregates.join(', ')}`);
    }
    splits.set(text, { split, first: parts });
    parts += split.parts.length;
    return expression;
  };
  for (const { value } of node.outputs) collect(value);
  if (node.kind === 'aggregate' && node.having !== undefined) collect(node.having);
  return splits;
}

function replaced(plan: Analyzed, node: Analyzed, by: Analyzed): Analyzed {
  if (plan === node) return by;
  if ('left' in plan) return { ...plan, left: replaced(plan.left, node, by), right: replaced(plan.right, node, by) };
  return 'input' in plan ? { ...plan, input: replaced(plan.input, node, by) } : plan;
}

function textOf(value: Expression): string {
  return expressionSql(value, columnPathSql);
}
