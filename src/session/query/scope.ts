import { isServiceError } from '../../base/errors.ts';
import { bindExpression, type ScopeRelation } from '../../expr/bind-expression.ts';
import type { Expression } from '../../expr/expression.ts';
import { mapChildren, mapExpression } from '../../expr/expression-tree.ts';
import type { DataType, Field } from '../../schema/types.ts';
import { subqueryOf, subqueryQualifier } from './select-tree.ts';

/** A column of a relation in FROM: how users name it, and how the engine's text does. */
export interface ScopeColumn {
  readonly field: Field;
  /** Unique in its relation. */
  readonly sqlName: string;
}

/** A relation in FROM. */
export interface ScopeEntry {
  /** Name in the engine's text, unique in the statement. */
  readonly id: string;
  readonly alias: string | undefined;
  readonly columns: readonly ScopeColumn[];
  /** Columns that a name means where none of `columns` has it; no star shows them. */
  readonly hidden?: readonly ScopeColumn[] | undefined;
  /** Takes a condition over the entry's bound columns that all rows in use satisfy. */
  readonly prune: (condition: Expression) => void;
}

/** A column as `*` shows it and as an unqualified name finds it: of one relation, or merged from two by USING. */
export interface VisibleColumn {
  readonly field: Field;
  readonly alias: string | undefined;
  readonly value: Expression;
}

/** Names in force at a place of a query; `parent` is that of the query around it. */
export interface NameScope {
  readonly entries: readonly ScopeEntry[];
  readonly visible: readonly VisibleColumn[];
  readonly parent?: NameScope | undefined;
}

export const emptyScope: NameScope = { entries: [], visible: [] };

export function columnOf(entry: ScopeEntry, column: ScopeColumn): Expression {
  return { kind: 'column', path: [column.sqlName], qualifier: entry.id, type: column.field.type };
}

/** The scope of one relation. */
export function scopeOf(entry: ScopeEntry, parent?: NameScope): NameScope {
  const visible = entry.columns.map((column) => ({ field: column.field, alias: entry.alias, value: columnOf(entry, column) }));
  return { entries: [entry], visible, parent };
}

/** Columns with names for the engine's text: the users' own, made unique without regard to case. */
export function scopeColumns(fields: readonly Field[]): readonly ScopeColumn[] {
  const used = new Set<string>();
  return fields.map((field) => {
    const base = field.name.replaceAll('\0', '') || 'column';
    let sqlName = base;
    for (let count = 2; used.has(sqlName.toLowerCase()); count += 1) sqlName = `${base}#${count}`;
    used.add(sqlName.toLowerCase());
    return { field, sqlName };
  });
}

/** Values that stand for names a query gives itself, such as the aliases of its select list. */
export interface Substitutes {
  readonly names: readonly { readonly name: string; readonly value: Expression }[];
  /** Whether they hide columns of the same name, or the other way round. */
  readonly first: boolean;
}

export interface BindOptions {
  readonly substitutes?: Substitutes | undefined;
  /** Types of the queries that stand in the expression. */
  readonly subqueryTypes: ReadonlyMap<string, DataType | undefined>;
}

/**
 * The expression with every column found: in this query first, then in those around it. Columns are `relation.column` of the engine's text.
 *
 * @throws AnalysisException as `bindExpression`, for the innermost scope.
 */
export function bindIn(scope: NameScope, expression: Expression, options: BindOptions): Expression {
  return bindNode(scope, expression, options, new Set());
}

function bindNode(scope: NameScope, expression: Expression, options: BindOptions, hidden: ReadonlySet<string>): Expression {
  if (expression.kind === 'lambda') {
    const inner = new Set([...hidden, ...expression.parameters.map((name) => name.toLowerCase())]);
    return mapChildren(expression, (child) => bindNode(scope, child, options, inner));
  }
  if (expression.kind === 'call' && hasStarMember(expression)) return bindNode(scope, spreadMembers(scope, expression), options, hidden);
  if (expression.kind === 'column' && expression.type !== undefined) return expression;
  if (expression.kind !== 'column') return mapChildren(expression, (child) => bindNode(scope, child, options, hidden));
  const [first = '', ...members] = expression.path;
  if (hidden.has(first.toLowerCase())) return expression;
  if (members.length === 0 && subqueryOf(first) !== undefined) {
    return { ...expression, qualifier: subqueryQualifier, type: options.subqueryTypes.get(first) };
  }
  return findColumn(scope, expression, options);
}

type Call = Extract<Expression, { kind: 'call' }>;

function hasStarMember(call: Call): boolean {
  return call.name.toLowerCase() === 'struct' && (call.star === true || call.arguments.some(({ kind }) => kind === 'star'));
}

/** `struct(*)`, `struct(t.*, x)`: members under the names of their columns. */
function spreadMembers(scope: NameScope, call: Call): Expression {
  const given: readonly Expression[] = call.star === true ? [{ kind: 'star' }] : call.arguments;
  const members = given.flatMap((argument, index): readonly Expression[] => {
    if (argument.kind !== 'star') return memberOf(argument, index);
    const wanted = argument.qualifier?.toLowerCase();
    const chosen = scope.visible.filter((column) => wanted === undefined || column.alias?.toLowerCase() === wanted);
    return chosen.flatMap(({ field, value }) => [textLiteral(field.name), value]);
  });
  return { kind: 'call', name: 'named_struct', arguments: members, ...(call.at === undefined ? {} : { at: call.at }) };
}

function memberOf(argument: Expression, index: number): readonly Expression[] {
  if (argument.kind === 'alias') return [textLiteral(argument.name), argument.operand];
  const name = argument.kind === 'column' ? argument.path.at(-1) : argument.kind === 'member' ? argument.name : undefined;
  return [textLiteral(name ?? `col${index + 1}`), argument];
}

function textLiteral(value: string): Expression {
  return { kind: 'literal', literal: { type: 'string', value } };
}

type Column = Extract<Expression, { kind: 'column' }>;

function findColumn(scope: NameScope, column: Column, { substitutes }: BindOptions): Expression {
  const own = substituteFor(column, substitutes);
  if (own !== undefined && substitutes?.first === true) return own;
  let failure: unknown;
  for (let at: NameScope | undefined = scope; at !== undefined; at = at.parent) {
    try {
      return bindColumn(at, column);
    } catch (error) {
      if (!isUnresolved(error)) throw error;
      failure ??= error;
      // Aliases of this query come before columns of those around it.
      if (at === scope && own !== undefined) return own;
    }
  }
  throw failure;
}

function substituteFor(column: Column, substitutes: Substitutes | undefined): Expression | undefined {
  const [name = '', ...members] = column.path;
  const found = substitutes?.names.find((candidate) => candidate.name.toLowerCase() === name.toLowerCase());
  return found === undefined
    ? undefined
    : members.reduce<Expression>((operand, member) => ({ kind: 'member', operand, name: member }), found.value);
}

function isUnresolved(error: unknown): boolean {
  return isServiceError(error) && error.code.startsWith('UNRESOLVED_COLUMN');
}

function bindColumn(scope: NameScope, column: Column): Expression {
  const hidden = scope.entries.flatMap((entry): readonly Named[] => {
    if (entry.hidden === undefined || entry.hidden.length === 0) return [];
    const named = namedColumns(entry, entry.hidden);
    return [{ ...named, relation: { ...named.relation, hidden: true } }];
  });
  if (column.path.length > 1) {
    const qualified = scope.entries.map((entry) => namedColumns(entry, entry.columns));
    try {
      return bindAmong([...qualified, ...hidden], column);
    } catch (error) {
      if (!isUnresolved(error)) throw error;
    }
  }
  return bindAmong([...visibleRelations(scope), ...hidden], column);
}

function namedColumns(entry: ScopeEntry, columns: readonly ScopeColumn[]): Named {
  const relation = relationOf(
    entry.alias,
    columns.map((candidate) => candidate.field),
  );
  return { relation, values: columns.map((candidate) => columnOf(entry, candidate)) };
}

interface Named {
  readonly relation: ScopeRelation;
  readonly values: readonly Expression[];
}

function relationOf(alias: string | undefined, fields: readonly Field[]): ScopeRelation {
  return { ...(alias === undefined ? {} : { alias }), schema: { kind: 'struct', fields } };
}

// One relation for each alias, so that an error can tell them apart.
function visibleRelations(scope: NameScope): readonly Named[] {
  const byEntry = new Map<string, VisibleColumn[]>();
  for (const column of scope.visible) {
    const key = column.value.kind === 'column' ? (column.value.qualifier ?? '') : '';
    const columns = byEntry.get(key);
    if (columns === undefined) byEntry.set(key, [column]);
    else columns.push(column);
  }
  return [...byEntry.values()].map((columns) => ({
    relation: relationOf(
      columns[0]?.alias,
      columns.map((column) => column.field),
    ),
    values: columns.map((column) => column.value),
  }));
}

/** Binds by the users' names, and puts the engine's names in their place. */
function bindAmong(relations: readonly Named[], column: Column): Expression {
  const bound = bindExpression(
    column,
    relations.map(({ relation }) => relation),
  );
  return mapExpression(bound, (node) => {
    if (node.kind !== 'column' || node.type === undefined) return node;
    const [name = '', ...members] = node.path;
    for (const { relation, values } of relations) {
      if (relation.alias !== node.qualifier) continue;
      const index = relation.schema.fields.findIndex((field) => field.name === name);
      const value = values[index];
      if (value === undefined) continue;
      if (value.kind === 'column') return { ...value, path: [...value.path, ...members], type: node.type };
      return members.reduce<Expression>((operand, member) => ({ kind: 'member', operand, name: member }), value);
    }
    return node;
  });
}
