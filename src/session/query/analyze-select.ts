import { AnalysisException } from '../../base/analysis-exception.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import { hasAggregate, someNode } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { requireComparable } from '../../expr/require-comparable.ts';
import { quoteName, sortKeySql } from '../../expr/sql/engine-sql.ts';
import type { Field } from '../../schema/types.ts';
import { answeredValue, extentQuestion } from '../plan/answer-from-extent.ts';
import { type AnalyzedFrom, analyzeFrom, type MetadataOfRows } from './analyze-from.ts';
import type { AnalyzedQuery } from './analyzed-query.ts';
import { outputIndex } from './analyzed-query.ts';
import { describedTypes } from './described-types.ts';
import { hasSubquery } from './expressions.ts';
import { distribute, replaceColumns } from './pruning.ts';
import type { FromTools } from './query-tools.ts';
import type { NameScope, Substitutes } from './scope.ts';
import { scopeColumns } from './scope.ts';
import { type SelectOutput, selectOutputs } from './select-outputs.ts';
import type { GroupBy, Select } from './select-tree.ts';

/** Analyses one SELECT with the ORDER BY that follows it, which may use columns that are not selected. */
export async function analyzeSelect(tools: FromTools, select: Select, orderBy: readonly SortKey[]): Promise<AnalyzedQuery> {
  const analyzed = await analyzeFrom(tools, select.from);
  const { from, outputs } = await selectOutputs(tools, select, analyzed);
  const bindings = new SelectBindings(tools, analyzed.scope, outputs);
  const where = select.where === undefined ? undefined : await tools.expressions.bind(select.where, analyzed.scope);
  if (where !== undefined) {
    refuseAggregate(where);
    distribute(where, analyzed.scope.entries);
  }
  const groupBy = select.groupBy === undefined ? '' : await bindings.groupBySql(select.groupBy);
  const having = await bindings.condition(select.having);
  const qualify = await bindings.condition(select.qualify);
  const sort = await bindings.orderBySql(orderBy);
  const columns = scopeColumns(outputs.map((output) => ({ name: output.name, type: { kind: 'string' }, nullable: true })));
  const { expressions } = tools;
  const metadata = metadataFor(select, outputs, analyzed);
  const print = (): string => {
    const extent = metadata?.told();
    if (metadata !== undefined && extent !== undefined) {
      const told = outputs.map(({ value }) => expressions.print(answeredValue(value, extent, metadata.fieldOf)));
      return `SELECT ${told.map((sql, index) => `${sql} AS ${quoteName(columns[index]?.sqlName ?? '')}`).join(', ')}`;
    }
    const list = outputs.map((output, index) => `${expressions.print(output.value)} AS ${quoteName(columns[index]?.sqlName ?? '')}`);
    const fromSql = from.print();
    return [
      `SELECT ${select.distinct ? 'DISTINCT ' : ''}${list.join(', ')}`,
      ...(fromSql === '' ? [] : [`FROM ${fromSql}`]),
      ...(where === undefined ? [] : [`WHERE ${expressions.print(where)}`]),
      ...(groupBy === '' ? [] : [groupBy]),
      ...(having === undefined ? [] : [`HAVING ${expressions.print(having)}`]),
      ...(qualify === undefined ? [] : [`QUALIFY ${expressions.print(qualify)}`]),
      ...(sort === '' ? [] : [sort]),
    ].join(' ');
  };
  const fields = await outputFields(tools, outputs, print);
  const simple = select.groupBy === undefined && having === undefined && qualify === undefined && outputs.every(isRowwise);
  const prune = (condition: Expression): void => {
    if (simple) pruneThrough(condition, outputs, analyzed);
  };
  return { fields, print, prune };
}

/** The metadata of the one table, asked, where nothing but it is needed. One row needs no order, and is distinct. */
function metadataFor(select: Select, outputs: readonly SelectOutput[], { metadata }: AnalyzedFrom): MetadataOfRows | undefined {
  const { where, groupBy, having, qualify } = select;
  if (metadata?.ask === undefined || [where, groupBy, having, qualify].some((clause) => clause !== undefined)) return undefined;
  const question = extentQuestion(
    outputs.map(({ value }) => value),
    metadata.fieldOf,
  );
  if (question === undefined) return undefined;
  metadata.ask(question);
  return metadata;
}

async function outputFields(tools: FromTools, outputs: readonly SelectOutput[], print: () => string): Promise<readonly Field[]> {
  const types = outputs.some((output) => output.type === undefined) ? await describedTypes(tools, print()) : [];
  return outputs.map((output, index) => ({
    name: output.name,
    type: output.type ?? types[index] ?? { kind: 'string' },
    nullable: output.nullable,
  }));
}

/** Whether the output has a value for each row by itself: a condition on it can be asked of the rows. */
function isRowwise({ value }: SelectOutput): boolean {
  return !hasAggregate(value) && !someNode(value, (node) => node.kind === 'call' && node.over !== undefined);
}

function pruneThrough(condition: Expression, outputs: readonly SelectOutput[], from: AnalyzedFrom): void {
  const inner = replaceColumns(condition, (column) => {
    const value = outputs[outputIndex(column.path)]?.value;
    if (value === undefined || column.path.length === 1) return value;
    return value.kind === 'column' ? { ...value, path: [...value.path, ...column.path.slice(1)], type: column.type } : undefined;
  });
  if (inner !== undefined && !hasSubquery(inner)) distribute(inner, from.scope.entries);
}

function refuseAggregate(where: Expression): void {
  if (!hasAggregate(where)) return;
  throw new AnalysisException({
    errorClass: 'INVALID_WHERE_CONDITION',
    sqlState: '42903',
    message: 'The WHERE condition contains an aggregate function.',
    hint: 'use HAVING, or compute the aggregate in a subquery',
  });
}

/** Clauses that may use the names of the select list. */
class SelectBindings {
  readonly #tools: FromTools;
  readonly #scope: NameScope;
  readonly #outputs: readonly SelectOutput[];

  constructor(tools: FromTools, scope: NameScope, outputs: readonly SelectOutput[]) {
    this.#tools = tools;
    this.#scope = scope;
    this.#outputs = outputs;
  }

  async condition(condition: Expression | undefined): Promise<Expression | undefined> {
    return condition === undefined ? undefined : this.#tools.expressions.bind(condition, this.#scope, this.#substitutes(false));
  }

  async groupBySql(groupBy: GroupBy): Promise<string> {
    if (groupBy.kind === 'all') return 'GROUP BY ALL';
    const elements: string[] = [];
    for (const element of groupBy.elements) {
      const sets: string[] = [];
      for (const set of element.sets) {
        const keys: string[] = [];
        for (const key of set) keys.push(await this.#groupKey(key));
        sets.push(element.kind === 'key' ? keys.join(', ') : `(${keys.join(', ')})`);
      }
      elements.push(groupKeywords[element.kind](sets.join(', ')));
    }
    return `GROUP BY ${elements.join(', ')}`;
  }

  /** An output by its name or place is sorted by place, so that it is computed once. */
  async orderBySql(keys: readonly SortKey[]): Promise<string> {
    const parts: string[] = [];
    for (const key of keys) {
      const place = this.#placeOf(key.expression);
      const bound =
        this.#outputs[place ?? -1]?.value ?? (await this.#tools.expressions.bind(key.expression, this.#scope, this.#substitutes(true)));
      requireComparable(expressionType(bound));
      const sql = place === undefined ? this.#tools.expressions.print(bound) : String(place + 1);
      parts.push(sortKeySql(sql, key.descending, key.nullsFirst));
    }
    return parts.length === 0 ? '' : `ORDER BY ${parts.join(', ')}`;
  }

  async #groupKey(key: Expression): Promise<string> {
    const place = positionOf(key, this.#outputs.length, 'GROUP BY');
    const output = place === undefined ? undefined : this.#outputs[place];
    const bound = output?.value ?? (await this.#tools.expressions.bind(key, this.#scope, this.#substitutes(false)));
    requireComparable(expressionType(bound));
    if (hasAggregate(bound)) {
      throw new AnalysisException({
        errorClass: 'GROUP_BY_AGGREGATE',
        sqlState: '42903',
        message: 'Aggregate functions are not allowed in GROUP BY.',
      });
    }
    return this.#tools.expressions.print(bound);
  }

  #placeOf(expression: Expression): number | undefined {
    const place = positionOf(expression, this.#outputs.length, 'ORDER BY');
    if (place !== undefined || expression.kind !== 'column' || expression.path.length !== 1) return place;
    const name = expression.path[0]?.toLowerCase();
    const places = this.#outputs.flatMap((output, index) => (output.name.toLowerCase() === name ? [index] : []));
    return places.length === 1 ? places[0] : undefined;
  }

  #substitutes(first: boolean): Substitutes {
    return { names: this.#outputs, first };
  }
}

/** The 0-based place that an integer literal names. @throws AnalysisException `GROUP_BY_POS_OUT_OF_RANGE`, `ORDER_BY_POS_OUT_OF_RANGE` 42805. */
export function positionOf(expression: Expression, count: number, clause: 'GROUP BY' | 'ORDER BY'): number | undefined {
  if (expression.kind !== 'literal' || expression.literal.type !== 'integer') return undefined;
  const place = Number(expression.literal.value);
  if (place >= 1 && place <= count) return place - 1;
  throw new AnalysisException({
    errorClass: `${clause.replace(' ', '_')}_POS_OUT_OF_RANGE`,
    sqlState: '42805',
    message: `${clause} position ${place} is not in select list (valid range is [1, ${count}]).`,
    parameters: { index: String(place), size: String(count) },
  });
}

const groupKeywords = {
  key: (keys: string): string => keys,
  rollup: (sets: string): string => `ROLLUP (${sets})`,
  cube: (sets: string): string => `CUBE (${sets})`,
  'grouping-sets': (sets: string): string => `GROUPING SETS (${sets})`,
} as const;
