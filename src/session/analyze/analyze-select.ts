import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { type ConditionClause, requireCondition, requireDistinctRows, requireGroupKey } from '../../expr/clause-rules.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import { hasAggregate } from '../../expr/expression-tree.ts';
import { expressionType } from '../../expr/expression-type.ts';
import { requireOrdered } from '../../expr/require-comparable.ts';
import { columnPathSql, expressionSql } from '../../expr/sql/engine-sql.ts';
import { type Analyzed, attributeColumn, type Nameable } from '../plan/analyzed.ts';
import { exactColumn } from '../plan/exact-column.ts';
import type { GroupElement, Plan, Select, StarItem } from '../plan/plan.ts';
import type { Analysis } from './analysis.ts';
import { withGenerators } from './analyze-generators.ts';
import { shownBy } from './bind.ts';
import { withGroupingKeys } from './grouping-calls.ts';
import { type BoundOutput, boundOutputs, typedOutputs, type WantedOutput } from './outputs.ts';
import { requireGrouped } from './require-grouped.ts';

/** A select list and what may use its names. What a clause computes beyond the list is a column that is not shown. */
export async function analyzeSelect(analysis: Analysis, select: Select, input: Analyzed): Promise<Analyzed> {
  const items = await wantedOutputs(analysis, select.columns, input);
  const generated = await withGenerators(analysis, input, items);
  // Columns that generators made have no names for the other outputs.
  const bound = await boundOutputs(analysis, input, generated.wanted, { made: generated.input, lateral: true });
  const clauses = new Clauses(analysis, input, bound);
  const groups = select.groups === undefined ? undefined : await clauses.groups(select.groups);
  const grouped = (value: Expression): Expression => withGroupingKeys(value, groups);
  const having = optionally(await clauses.condition('HAVING', select.having), grouped);
  const qualify = optionally(await clauses.condition('QUALIFY', select.qualify), grouped);
  const shown = bound.map(({ name }) => ({ field: { name } }));
  const keysGiven = sortedByAll(select.orderBy ?? [], [...input.attributes, ...shown], bound.length);
  const sort = await clauses.sortKeys(keysGiven, select.distinct === true);
  const extras = [
    ...(qualify === undefined ? [] : [qualify]),
    ...sort.flatMap(({ value }) => (value === undefined ? [] : [grouped(value)])),
  ];
  const all = [
    ...bound.map((output) => ({ ...output, value: grouped(output.value) })),
    ...extras.map((value): BoundOutput => ({ name: 'value', value, exact: false })),
  ];
  requireGrouped(
    all.map(({ value }) => value),
    { groups, having, input: generated.input },
  );
  const outputs = await typedOutputs(analysis, generated.input, { bound: all, groups });
  const attributes = outputs.slice(0, bound.length).map(({ attribute }) => attribute);
  const node = { outputs, input: generated.input, attributes };
  let rows: Analyzed =
    groups === undefined && having === undefined
      ? { kind: 'project', ...node }
      : { kind: 'aggregate', groups: groups ?? [], having, ...node };
  const added = outputs.slice(bound.length).map(({ attribute }) => attribute);
  if (qualify !== undefined) {
    const [condition] = added.splice(0, 1);
    if (condition !== undefined) rows = { kind: 'filter', condition: attributeColumn(condition), input: rows, attributes };
  }
  if (select.distinct === true) {
    requireDistinctRows(attributes.map(({ field }) => field));
    rows = { kind: 'distinct', input: rows, attributes };
  }
  if (sort.length === 0) return rows;
  const keys: SortKey[] = [];
  for (const { key, place, value } of sort) {
    const attribute = place === undefined ? value && added.shift() : attributes[place];
    // Of distinct rows there is nothing but what the list shows.
    keys.push(
      attribute === undefined ? await analysis.bindSortKey(key, { attributes }) : { ...key, expression: attributeColumn(attribute) },
    );
  }
  return { kind: 'sort', keys, input: rows, attributes };
}

/** Groups of a DataFrame: the keys come out before the aggregates, and are neither places nor names of the list. */
export async function analyzeAggregate(
  analysis: Analysis,
  plan: Plan & { readonly kind: 'aggregate' },
  input: Analyzed,
): Promise<Analyzed> {
  const given = plan.byPlace === true ? plan.groups.map((key) => placedColumn(key, input)) : plan.groups;
  const keys = await groupKeys(analysis, given, input);
  const groups = await groupElements(analysis, plan, { keys, input });
  const wanted = [...given, ...plan.aggregates].map((value) => ({ value }));
  const asked = await boundOutputs(analysis, input, wanted, { lateral: true });
  const bound = asked.map((output) => ({ ...output, value: withGroupingKeys(output.value, groups) }));
  requireGrouped(
    bound.map(({ value }) => value),
    { groups, input },
  );
  const outputs = await typedOutputs(analysis, input, { bound, groups });
  return { kind: 'aggregate', groups, outputs, input, attributes: outputs.map(({ attribute }) => attribute) };
}

function optionally(value: Expression | undefined, change: (value: Expression) => Expression): Expression | undefined {
  return value === undefined ? undefined : change(value);
}

function placedColumn(key: Expression, { attributes }: Analyzed): Expression {
  const attribute = attributes[positionOf(key, attributes.length, 'GROUP BY') ?? -1];
  return attribute === undefined ? key : exactColumn(attribute);
}

async function groupKeys(analysis: Analysis, groups: readonly Expression[], input: Analyzed): Promise<readonly Expression[]> {
  const keys: Expression[] = [];
  for (const group of groups) {
    const key = await analysis.bind(group.kind === 'alias' ? group.operand : group, input);
    requireGroupKey(key);
    keys.push(key);
  }
  return keys;
}

/** @throws AnalysisException `MISSING_AGGREGATION` for a set with more than keys, `UNSUPPORTED_FEATURE` for a key that is in no set. */
async function groupElements(
  analysis: Analysis,
  { subtotals }: Plan & { readonly kind: 'aggregate' },
  { keys, input }: { readonly keys: readonly Expression[]; readonly input: Analyzed },
): Promise<readonly GroupElement[]> {
  const single = keys.map((key) => [key]);
  if (subtotals === undefined) return single.map((set) => ({ kind: 'key', sets: [set] }));
  if (subtotals.kind !== 'grouping-sets') return keys.length === 0 ? [] : [{ kind: subtotals.kind, sets: single }];
  const sets: (readonly Expression[])[] = [];
  for (const given of subtotals.sets) {
    const set = await groupKeys(analysis, given, input);
    requireGrouped(set, { groups: single.map((key) => ({ kind: 'key', sets: [key] })), input });
    sets.push(set);
  }
  const used = new Set(sets.flat().map(textOf));
  if (keys.some((key) => !used.has(textOf(key))))
    throw unsupported('groupingSets() with a column that is in none of the sets', 'leave it out');
  return [{ kind: 'grouping-sets', sets }];
}

/** A key of an order: a column of the list by its place, or a value beside it. */
interface PlacedKey {
  readonly key: SortKey;
  readonly place?: number | undefined;
  readonly value?: Expression | undefined;
}

/** Clauses that may use the names of the select list. */
class Clauses {
  readonly #analysis: Analysis;
  readonly #input: Nameable;
  readonly #outputs: readonly BoundOutput[];

  constructor(analysis: Analysis, input: Nameable, outputs: readonly BoundOutput[]) {
    this.#analysis = analysis;
    this.#input = input;
    this.#outputs = outputs;
  }

  async condition(clause: ConditionClause, condition: Expression | undefined): Promise<Expression | undefined> {
    if (condition === undefined) return undefined;
    const bound = await this.#bind(condition, false);
    requireCondition(clause, bound);
    return bound;
  }

  async groups(groups: NonNullable<Select['groups']>): Promise<readonly GroupElement[]> {
    if (groups === 'all') {
      const keys = this.#outputs.filter(({ value }) => value.kind !== 'literal' && !hasAggregate(value));
      return keys.map(({ value }) => ({ kind: 'key', sets: [[value]] }));
    }
    const bound: GroupElement[] = [];
    for (const { kind, sets } of groups) {
      const boundSets: (readonly Expression[])[] = [];
      for (const set of sets) {
        const keys: Expression[] = [];
        for (const key of set) keys.push(await this.#groupKey(key));
        boundSets.push(keys);
      }
      bound.push({ kind, sets: boundSets });
    }
    return bound;
  }

  /** An output by its name or place, or written again, is taken as it is computed. */
  async sortKeys(keys: readonly SortKey[], distinct: boolean): Promise<readonly PlacedKey[]> {
    const placed: PlacedKey[] = [];
    for (const key of keys) {
      const place = this.#placeOf(key.expression);
      const value = this.#outputs[place ?? -1]?.value ?? (await this.#bind(key.expression, true));
      requireOrdered(expressionType(value));
      const same = place ?? this.#outputs.findIndex((output) => textOf(output.value) === textOf(value));
      placed.push(same >= 0 ? { key, place: same } : { key, value: distinct ? undefined : value });
    }
    return placed;
  }

  async #groupKey(key: Expression): Promise<Expression> {
    const place = positionOf(key, this.#outputs.length, 'GROUP BY');
    const bound = this.#outputs[place ?? -1]?.value ?? (await this.#bind(key, false));
    requireGroupKey(bound);
    return bound;
  }

  #placeOf(expression: Expression): number | undefined {
    const place = positionOf(expression, this.#outputs.length, 'ORDER BY');
    if (place !== undefined || expression.kind !== 'column' || expression.path.length !== 1) return place;
    const name = expression.path[0]?.toLowerCase();
    const places = this.#outputs.flatMap((output, index) => (output.name.toLowerCase() === name ? [index] : []));
    return places.length === 1 ? places[0] : undefined;
  }

  #bind(expression: Expression, first: boolean): Promise<Expression> {
    return this.#analysis.bind(expression, this.#input, { names: this.#outputs, first });
  }
}

/** `ORDER BY ALL` as all places, where no column has this name. `count`: of the columns that are shown. */
export function sortedByAll(
  keys: readonly SortKey[],
  named: readonly { readonly field: { readonly name: string } }[],
  count: number = named.length,
): readonly SortKey[] {
  const [key, ...others] = keys;
  if (key?.expression.kind !== 'column' || others.length > 0 || key.expression.path.length !== 1) return keys;
  const isAll = (name: string | undefined): boolean => name?.toLowerCase() === 'all';
  if (!isAll(key.expression.path[0]) || named.some(({ field }) => isAll(field.name))) return keys;
  return Array.from({ length: count }, (_, index) => ({
    ...key,
    expression: { kind: 'literal', literal: { type: 'integer', value: BigInt(index + 1), width: 'integer' } },
  }));
}

/** The 0-based place that an integer literal names. @throws AnalysisException `GROUP_BY_POS_OUT_OF_RANGE`, `ORDER_BY_POS_OUT_OF_RANGE` 42805. */
export function positionOf(expression: Expression, count: number, clause: 'GROUP BY' | 'ORDER BY'): number | undefined {
  if (expression.kind !== 'literal' || expression.literal.type !== 'integer') return undefined;
  const place = Number(expression.literal.value);
  if (place >= 1 && place <= count) return place - 1;
  throw new AnalysisException({
    errorClass: `${clause.replace(' ', '_')}_POS_OUT_OF_RANGE`,
    message: `${clause} position ${place} is not in select list (valid range is [1, ${count}]).`,
    parameters: { index: String(place), size: String(count) },
  });
}

/** The columns with those in the place of stars. */
async function wantedOutputs(
  analysis: Analysis,
  columns: readonly (Expression | StarItem)[],
  input: Analyzed,
): Promise<readonly WantedOutput[]> {
  const wanted: WantedOutput[] = [];
  for (const column of columns) {
    if (column.kind === 'star')
      wanted.push(...(await starOutputs(analysis, { kind: 'star-item', qualifier: qualifierOf(column), except: [] }, input)));
    else if (column.kind === 'star-item') wanted.push(...(await starOutputs(analysis, column, input)));
    else wanted.push({ value: column });
  }
  return wanted;
}

function qualifierOf({ qualifier }: Extract<Expression, { readonly kind: 'star' }>): readonly string[] | undefined {
  return qualifier === undefined ? undefined : [qualifier];
}

/** `*`, `t.*` of a relation, or `column.*` of a struct, with names left out. */
async function starOutputs(analysis: Analysis, star: StarItem, input: Analyzed): Promise<readonly WantedOutput[]> {
  const { qualifier, except, at } = star;
  const shown = shownBy(qualifier?.at(-1), input);
  if (shown.length === 0 && qualifier !== undefined) return withoutNamed(await memberOutputs(analysis, qualifier, input), except);
  if (shown.length === 0 && at !== undefined) {
    throw new AnalysisException({
      errorClass: 'INVALID_USAGE_OF_STAR_OR_REGEX',
      message: `Invalid usage of '*' in line ${at.line}, column ${at.column}: there are no columns.`,
    });
  }
  return withoutNamed(
    shown.map((attribute) => ({ value: exactColumn(attribute), name: attribute.field.name })),
    except,
  );
}

interface NamedOutput extends WantedOutput {
  readonly name: string;
}

function withoutNamed(outputs: readonly NamedOutput[], names: readonly string[]): readonly NamedOutput[] {
  if (names.length === 0) return outputs;
  const except = new Set(names.map((name) => name.toLowerCase()));
  const missing = names.find((name) => !outputs.some((output) => output.name.toLowerCase() === name.toLowerCase()));
  if (missing !== undefined) {
    throw new AnalysisException({
      errorClass: 'UNRESOLVED_COLUMN.WITH_SUGGESTION',
      message: `A column with name \`${missing}\` cannot be resolved in EXCEPT.`,
      parameters: { objectName: `\`${missing}\`` },
    });
  }
  return outputs.filter((output) => !except.has(output.name.toLowerCase()));
}

/** The members of a struct. */
async function memberOutputs(analysis: Analysis, path: readonly string[], input: Analyzed): Promise<readonly NamedOutput[]> {
  const struct = await analysis.bind({ kind: 'column', path }, input);
  const type = expressionType(struct);
  if (type?.kind !== 'struct') {
    throw new AnalysisException({
      errorClass: 'CANNOT_RESOLVE_STAR_EXPAND',
      message: `Cannot resolve ${path.map((part) => `\`${part}\``).join('.')}.* given input columns.`,
    });
  }
  return type.fields.map(({ name }) => ({ value: { kind: 'column', path: [...path, name] }, name }));
}

function textOf(value: Expression): string {
  return expressionSql(value, columnPathSql);
}
