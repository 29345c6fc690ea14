import { AnalysisException } from '../../base/analysis-exception.ts';
import { isServiceError } from '../../base/errors.ts';
import { bindColumns, bindExpression, type ScopeRelation } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { type Analyzed, type Attribute, attributeColumn, type Nameable, nameable } from '../plan/analyzed.ts';
import { exactId } from '../plan/exact-column.ts';
import { type SubqueryForm, subqueryOf, subqueryQualifier } from '../plan/subquery-name.ts';

/** First part of the path of a column that belongs to a certain DataFrame: `df.col(name)`. No name a user writes begins with it. */
export const framePrefix = '\u0001frame:';
/** Marks a field of a scope that stands for exactly one attribute. */
const exactPrefix = '\u0001id:';

/** Values that stand for names a query gives itself, such as the aliases of its select list. */
export interface Substitutes {
  readonly names: readonly { readonly name: string; readonly value: Expression }[];
  /** Whether they hide columns of the same name, or the other way round. */
  readonly first: boolean;
}

/** A query that stands in an expression. */
export interface BoundSubquery {
  /** In the bound expression. */
  readonly id: string;
  readonly form: SubqueryForm;
  readonly query: Analyzed;
}

export interface Binding {
  readonly input: Nameable;
  /** Columns of the queries around, the innermost first. */
  readonly outer?: readonly Nameable[] | undefined;
  readonly substitutes?: Substitutes | undefined;
  /** By their names in the expression. */
  readonly subqueries?: ReadonlyMap<string, BoundSubquery> | undefined;
}

type Column = Extract<Expression, { readonly kind: 'column' }>;

/**
 * An expression over the columns of a node: names found, here first, then in the queries around; every column path begins with an
 * attribute's id.
 *
 * @throws AnalysisException what `bindExpression` throws, for the node; `MISSING_ATTRIBUTES` for a column of a DataFrame that is not part of it.
 */
export function bindTo(expression: Expression, binding: Binding): Expression {
  const { input, outer = [], subqueries } = binding;
  const exact: Attribute[] = [];
  const marked = mapExpression(
    mapExpression(expression, (node) => withMemberNames(node, input, exact)),
    (node) => withoutFrame(node, nameable(input), exact),
  );
  let scopes: readonly BoundScope[] | undefined;
  return bindColumns(marked, (column) => {
    if (column.type !== undefined) return column;
    const subquery =
      column.path.length === 1 && subqueryOf(column.path[0] ?? '') !== undefined ? subqueries?.get(column.path[0] ?? '') : undefined;
    if (subquery !== undefined) return { kind: 'column', path: [subquery.id], qualifier: subqueryQualifier, type: subqueryType(subquery) };
    scopes ??= [input, ...outer].map((columns, index) => new BoundScope(columns, index === 0 ? exact : []));
    return findColumn(column, scopes, binding.substitutes);
  });
}

/** The columns of one node. */
class BoundScope {
  readonly #relations: readonly ScopeRelation[];
  readonly #all: readonly Attribute[];

  constructor(columns: Nameable, exact: readonly Attribute[]) {
    this.#all = nameable(columns);
    this.#relations = [...relationsOf(columns), ...exactScopes(exact)];
  }

  bind(column: Column): Expression {
    return mapExpression(bindExpression(column, this.#relations), (node) => {
      // Parameters of lambdas are columns without a type.
      if (node.kind !== 'column' || node.type === undefined) return node;
      const [name = '', ...members] = node.path;
      return { kind: 'column', path: [idOf(name, node.qualifier, this.#all), ...members], type: node.type };
    });
  }
}

/** Made once for all the expressions over a node. */
const knownRelations = new WeakMap<Nameable, readonly ScopeRelation[]>();

function relationsOf(columns: Nameable): readonly ScopeRelation[] {
  const known = knownRelations.get(columns);
  if (known !== undefined) return known;
  const { attributes, hidden = [] } = columns;
  const named = scopesOf(hidden.filter(({ qualifiedOnly }) => qualifiedOnly !== true));
  const qualified = scopesOf(hidden.filter(({ qualifiedOnly }) => qualifiedOnly === true));
  const relations: readonly ScopeRelation[] = [
    ...scopesOf(attributes),
    ...named.map((relation) => ({ ...relation, hidden: true })),
    ...qualified.map((relation) => ({ ...relation, hidden: true, qualifiedOnly: true })),
  ];
  knownRelations.set(columns, relations);
  return relations;
}

function findColumn(column: Column, scopes: readonly BoundScope[], substitutes: Substitutes | undefined): Expression {
  const own = substituteFor(column, substitutes);
  if (own !== undefined && substitutes?.first === true) return own;
  let failure: unknown;
  for (const [depth, scope] of scopes.entries()) {
    try {
      return scope.bind(column);
    } catch (error) {
      if (!isUnresolved(error)) throw error;
      failure ??= error;
      // Names that the query gives come before columns of those around it.
      if (depth === 0 && own !== undefined) return own;
    }
  }
  throw failure;
}

function substituteFor(column: Column, substitutes: Substitutes | undefined): Expression | undefined {
  const [name = '', ...members] = column.path;
  const found = substitutes?.names.find((candidate) => sameName(candidate.name, name));
  return found === undefined
    ? undefined
    : members.reduce<Expression>((operand, member) => ({ kind: 'member', operand, name: member }), found.value);
}

function isUnresolved(error: unknown): boolean {
  return isServiceError(error) && error.code.startsWith('UNRESOLVED_COLUMN');
}

function subqueryType({ form, query }: BoundSubquery): DataType | undefined {
  if (form === 'exists') return { kind: 'boolean' };
  return form === 'scalar' ? query.attributes[0]?.field.type : undefined;
}

/** The attribute that a column expression stands for on its own, if it does. */
export function plainAttribute(bound: Expression, input: Nameable): Attribute | undefined {
  if (bound.kind !== 'column' || bound.path.length !== 1) return undefined;
  return nameable(input).find((attribute) => attribute.id === bound.path[0]);
}

/** One relation for each qualifier; a name that occurs twice under one qualifier goes to a relation of its own, so that it is ambiguous. */
export function scopesOf(attributes: readonly Attribute[]): readonly ScopeRelation[] {
  const relations: { readonly alias: string | undefined; readonly names: Set<string>; readonly fields: Field[] }[] = [];
  for (const { field, qualifier } of attributes) {
    const name = field.name.toLowerCase();
    const free = relations.find((relation) => relation.alias === qualifier && !relation.names.has(name));
    const relation = free ?? { alias: qualifier, names: new Set<string>(), fields: [] };
    if (free === undefined) relations.push(relation);
    relation.names.add(name);
    relation.fields.push(field);
  }
  return relations.map(({ alias, fields }) => ({ alias, schema: { kind: 'struct', fields } }));
}

/** A column of a certain DataFrame, and one that stands for an attribute, as the attribute. */
function withoutFrame(node: Expression, all: readonly Attribute[], exact: Attribute[]): Expression {
  if (node.kind !== 'column') return node;
  const id = exactId(node);
  if (id !== undefined) {
    const attribute = all.find((each) => each.id === id);
    return attribute === undefined ? node : { ...attributeColumn(attribute), type: attribute.field.type };
  }
  if (node.path[0]?.startsWith(framePrefix) !== true) return node;
  const attribute = ofFrame(node.path, all);
  exact.push(attribute);
  return { ...node, path: [`${exactPrefix}${attribute.id}`, ...node.path.slice(2)] };
}

/** `struct(a, b)` takes the names of its members from its arguments, which get others here: they are written down first. */
function withMemberNames(node: Expression, input: Nameable, exact: Attribute[]): Expression {
  if (node.kind === 'call' && node.name.toLowerCase() === 'arrays_zip') return { ...node, arguments: node.arguments.map(zippedName) };
  if (node.kind !== 'call' || node.name.toLowerCase() !== 'struct') return node;
  const given: readonly Expression[] = node.star === true ? [{ kind: 'star' }] : node.arguments;
  const members = given.flatMap((argument, index): readonly Expression[] => {
    if (argument.kind === 'star') return starMembers(argument.qualifier, input, exact);
    const value = argument.kind === 'alias' ? argument.operand : argument;
    return [{ kind: 'literal', literal: { type: 'string', value: memberName(argument) ?? `col${index + 1}` } }, value];
  });
  return { kind: 'call', name: 'named_struct', arguments: members, ...(node.at === undefined ? {} : { at: node.at }) };
}

function zippedName(argument: Expression): Expression {
  const name = memberName(argument);
  return name === undefined || argument.kind === 'alias' ? argument : { kind: 'alias', operand: argument, name };
}

/** `struct(*)`, `struct(t.*)`: all columns under their names. */
function starMembers(qualifier: string | undefined, input: Nameable, exact: Attribute[]): readonly Expression[] {
  const chosen = shownBy(qualifier, input);
  exact.push(...chosen);
  return chosen.flatMap((attribute): readonly Expression[] => [
    { kind: 'literal', literal: { type: 'string', value: attribute.field.name } },
    { kind: 'column', path: [`${exactPrefix}${attribute.id}`] },
  ]);
}

/** The columns of `*` or `t.*`. What a join by name merged is among those of both sides. */
export function shownBy(qualifier: string | undefined, { attributes, hidden = [] }: Nameable): readonly Attribute[] {
  if (qualifier === undefined) return attributes;
  const merged = hidden.filter(({ qualifiedOnly }) => qualifiedOnly === true);
  return [...merged, ...attributes].filter((each) => each.qualifier !== undefined && sameName(each.qualifier, qualifier));
}

function memberName(argument: Expression): string | undefined {
  if (argument.kind === 'alias' || argument.kind === 'member') return argument.name;
  return argument.kind === 'column' ? argument.path.at(-1) : undefined;
}

function exactScopes(attributes: readonly Attribute[]): readonly ScopeRelation[] {
  const ids = new Map(attributes.map((attribute) => [attribute.id, attribute]));
  if (ids.size === 0) return [];
  const fields = [...ids.values()].map(({ id, field }) => ({ ...field, name: `${exactPrefix}${id}` }));
  return [{ schema: { kind: 'struct', fields } }];
}

function ofFrame(path: readonly string[], attributes: readonly Attribute[]): Attribute {
  const [frame = '', name = ''] = path;
  const candidates = attributes.filter((attribute) => attribute.frames.includes(frame) && sameName(attribute.field.name, name));
  const [found] = candidates;
  if (found === undefined) {
    throw new AnalysisException({
      errorClass: 'MISSING_ATTRIBUTES.RESOLVED_ATTRIBUTE_MISSING_FROM_INPUT',
      message: `column \`${name}\` of another DataFrame is not among the columns here: ${attributes.map((each) => `\`${each.field.name}\``).join(', ')}`,
      hint: 'use a column of the DataFrame the method is called on, or join the other one first',
      parameters: { missingAttributes: name },
    });
  }
  if (candidates.length === 1) return found;
  throw new AnalysisException({
    errorClass: 'AMBIGUOUS_COLUMN_REFERENCE',
    message: `Column "${name}" is ambiguous. It's because you joined several DataFrame together, and some of these DataFrames are the same.`,
    hint: 'give the sides names with df.alias("a") and write col("a.column")',
    parameters: { name },
  });
}

function idOf(name: string, qualifier: string | undefined, attributes: readonly Attribute[]): string {
  if (name.startsWith(exactPrefix)) return name.slice(exactPrefix.length);
  const exact = attributes.find((attribute) => attribute.field.name === name && attribute.qualifier === qualifier);
  return exact?.id ?? name;
}

function sameName(left: string, right: string): boolean {
  return left.toLowerCase() === right.toLowerCase();
}
