import { AnalysisException } from '../base/analysis-exception.ts';
import { describeType } from '../schema/describe-type.ts';
import type { DataType, Field, StructType } from '../schema/types.ts';
import { quotedName, unresolvedName } from '../schema/unresolved-column.ts';
import type { Expression } from './expression.ts';
import { mapChildren } from './expression-tree.ts';
import { expressionType } from './expression-type.ts';
import type { CallExpression } from './function-spec.ts';
import { checkCall } from './functions.ts';
import { requireParameterTypes } from './parameter-types.ts';

/** Columns that an expression may name, with the name they may be qualified by. */
export interface ScopeRelation {
  readonly alias?: string | undefined;
  readonly schema: StructType;
  /** Columns that a name means only where no other relation has it, and that no error proposes. */
  readonly hidden?: boolean | undefined;
  /** Its columns are found by the alias before them only. */
  readonly qualifiedOnly?: boolean | undefined;
}
export type Scope = readonly ScopeRelation[];

type ColumnNode = Extract<Expression, { kind: 'column' }>;

/**
 * The expression with every column in its schema's own spelling and typed, and every function known. Names match without regard to case;
 * `qualifier` is the alias of the relation the column comes from. Members of structs stay part of the path; a member of a list of structs
 * becomes `transform`, a key of a map an element access.
 *
 * @throws AnalysisException `UNRESOLVED_COLUMN.WITH_SUGGESTION` 42703, `AMBIGUOUS_REFERENCE` 42704, `FIELD_NOT_FOUND` 42704,
 * `INVALID_EXTRACT_BASE_FIELD_TYPE` 42000, `UNRESOLVED_ROUTINE` 42883, `WRONG_NUM_ARGS` 42605.
 */
export function bindExpression(expression: Expression, scope: Scope): Expression {
  return bindColumns(expression, (column) => bindColumn(column, scope));
}

/** The same for whoever finds columns otherwise. `find` is not asked for the parameters of lambdas. */
export function bindColumns(expression: Expression, find: FindColumn): Expression {
  return bindNode(expression, find, new Map());
}

/** What a column as written is. */
export type FindColumn = (column: Extract<Expression, { readonly kind: 'column' }>) => Expression;

interface LambdaParameter {
  /** In the spelling of its declaration. */
  readonly name: string;
  readonly type: DataType | undefined;
}

/** Parameters of the lambdas around, by their name in lower case. */
type Hidden = ReadonlyMap<string, LambdaParameter>;

function bindNode(expression: Expression, find: FindColumn, hidden: Hidden): Expression {
  switch (expression.kind) {
    case 'column': {
      const [first = '', ...members] = expression.path;
      const parameter = expression.qualifier === undefined ? hidden.get(first.toLowerCase()) : undefined;
      return parameter === undefined ? find(expression) : bindParameter(expression, parameter, members);
    }
    case 'lambda':
      return bindLambda(expression, { find, hidden, types: [] });
    case 'call':
      return bindCall(expression, find, hidden);
    case 'case': {
      const bound = mapChildren(expression, (child) => bindNode(child, find, hidden));
      if (bound.kind === 'case') requireTests(bound);
      return bound;
    }
    default:
      return mapChildren(expression, (child) => bindNode(child, find, hidden));
  }
}

/** Lambdas come last: what their parameters are follows from the other arguments. */
function bindCall(call: CallExpression, find: FindColumn, hidden: Hidden): Expression {
  const spec = checkCall(call);
  const types = call.arguments.map((argument) =>
    argument.kind === 'lambda' ? undefined : expressionType(bindNode(argument, find, hidden)),
  );
  const places = new Map<Expression, number>(call.arguments.map((argument, index) => [argument, index]));
  return mapChildren(call, (child) =>
    child.kind === 'lambda'
      ? bindLambda(child, { find, hidden, types: spec.lambda?.(types, places.get(child) ?? 0) ?? [] })
      : bindNode(child, find, hidden),
  );
}

function bindLambda(
  lambda: Extract<Expression, { kind: 'lambda' }>,
  { find, hidden, types }: { readonly find: FindColumn; readonly hidden: Hidden; readonly types: readonly (DataType | undefined)[] },
): Expression {
  const inner = new Map(hidden);
  for (const [index, name] of lambda.parameters.entries()) inner.set(name.toLowerCase(), { name, type: types[index] });
  return mapChildren(lambda, (child) => bindNode(child, find, inner));
}

function bindParameter(column: ColumnNode, parameter: LambdaParameter, members: readonly string[]): Expression {
  const type = members.reduce<DataType | undefined>(
    (of, member) => (of?.kind === 'struct' ? of.fields.find(({ name }) => sameName(name, member))?.type : undefined),
    parameter.type,
  );
  return { ...column, path: [parameter.name, ...members], ...(type === undefined || type.kind === 'void' ? {} : { type }) };
}

/** @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` 42K09 for a WHEN that is no condition. */
function requireTests({ operand, branches }: Extract<Expression, { kind: 'case' }>): void {
  if (operand !== undefined) return;
  const tests = branches.map(({ when }) => when);
  const types = tests.map((test) => expressionType(test));
  requireParameterTypes({ kind: 'call', name: 'CASE WHEN', arguments: tests }, ['condition'], types);
}

interface Match {
  readonly relation: ScopeRelation;
  readonly field: Field;
  readonly members: readonly string[];
}

function bindColumn(column: ColumnNode, scope: Scope): Expression {
  const shown = matchesIn(
    column,
    scope.filter(({ hidden }) => hidden !== true),
  );
  const matches =
    shown.length > 0
      ? shown
      : matchesIn(
          column,
          scope.filter(({ hidden }) => hidden === true),
        );
  const [match] = matches;
  if (match === undefined) throw unresolvedColumn(column.path, scope);
  if (matches.length > 1) throw ambiguous(column, matches);
  const root: ColumnNode = {
    kind: 'column',
    path: [match.field.name],
    ...(match.relation.alias === undefined ? {} : { qualifier: match.relation.alias }),
    type: match.field.type,
    ...(column.at === undefined ? {} : { at: column.at }),
  };
  return extractMembers(root, match.field.type, match.members);
}

function matchesIn(column: ColumnNode, relations: Scope): readonly Match[] {
  const qualified = relations.flatMap((relation) => qualifiedMatches(column, relation));
  return qualified.length > 0 || column.qualifier !== undefined
    ? qualified
    : relations.flatMap((relation) => (relation.qualifiedOnly === true ? [] : plainMatches(column, relation)));
}

/** `t.a`, `catalog.db.t.a`, and columns that carry their qualifier already. */
function qualifiedMatches(column: ColumnNode, relation: ScopeRelation): readonly Match[] {
  const { alias } = relation;
  if (alias === undefined) return [];
  if (column.qualifier !== undefined) return sameName(column.qualifier, alias) ? fieldMatches(relation, column.path) : [];
  for (let count = 1; count < column.path.length; count++) {
    // The alias may itself have several parts: `db.t`.
    const named = sameName(column.path.slice(0, count).join('.'), alias) || sameName(column.path[count - 1] ?? '', alias);
    const matches = named ? fieldMatches(relation, column.path.slice(count)) : [];
    if (matches.length > 0) return matches;
  }
  return [];
}

function plainMatches(column: ColumnNode, relation: ScopeRelation): readonly Match[] {
  return fieldMatches(relation, column.path);
}

function fieldMatches(relation: ScopeRelation, path: readonly string[]): readonly Match[] {
  const [name = '', ...members] = path;
  return fieldsNamed(relation.schema, name).map((field) => ({ relation, field, members }));
}

/** Fields of a name; where several differ by case only, the exactly spelled one alone. */
function fieldsNamed(schema: StructType, name: string): readonly Field[] {
  const fields = schema.fields.filter((field) => sameName(field.name, name));
  return fields.length > 1 && fields.some((field) => field.name === name) ? fields.filter((field) => field.name === name) : fields;
}

function extractMembers(root: ColumnNode, type: DataType, members: readonly string[]): Expression {
  const [name, ...rest] = members;
  if (name === undefined) return root;
  switch (type.kind) {
    case 'struct': {
      const field = memberOf(type, name);
      return extractMembers({ ...root, path: [...root.path, field.name], type: field.type }, field.type, rest);
    }
    case 'map': {
      const index: Expression = { kind: 'literal', literal: { type: 'string', value: name } };
      return rest.reduce<Expression>((operand, member) => ({ kind: 'member', operand, name: member }), {
        kind: 'element',
        operand: root,
        index,
      });
    }
    case 'list': {
      if (type.element.kind !== 'struct') break;
      const parameter = 'item';
      const body = rest.reduce<Expression>((operand, member) => ({ kind: 'member', operand, name: member }), {
        kind: 'member',
        operand: { kind: 'column', path: [parameter] },
        name: memberOf(type.element, name).name,
      });
      return { kind: 'call', name: 'transform', arguments: [root, { kind: 'lambda', parameters: [parameter], body }] };
    }
    default:
      break;
  }
  throw new AnalysisException({
    errorClass: 'INVALID_EXTRACT_BASE_FIELD_TYPE',
    message: `Can't extract a value from "${root.path.join('.')}". Need a complex type [STRUCT, ARRAY, MAP] but got "${describeType(type).toUpperCase()}".`,
    parameters: { base: root.path.join('.'), other: describeType(type).toUpperCase() },
  });
}

function memberOf(type: StructType, name: string): Field {
  const [field] = fieldsNamed(type, name);
  if (field !== undefined) return field;
  const fields = type.fields.map((candidate) => quoted(candidate.name)).join(', ');
  throw new AnalysisException({
    errorClass: 'FIELD_NOT_FOUND',
    message: `No such struct field ${quoted(name)} in ${fields}.`,
    parameters: { fieldName: quoted(name), fields },
  });
}

/** The error for a name that no relation of the scope has; suggestions nearest first. */
export function unresolvedColumn(path: readonly string[], scope: Scope): AnalysisException {
  const shown = scope.filter(({ hidden }) => hidden !== true);
  const several = shown.length > 1;
  const known = shown.flatMap(({ alias, schema }) =>
    schema.fields.map((field) => (several && alias !== undefined ? [alias, field.name] : [field.name])),
  );
  return unresolvedName(path, known);
}

function ambiguous(column: ColumnNode, matches: readonly Match[]): AnalysisException {
  const name = column.path.map(quoted).join('.');
  const references = matches
    .map(({ relation, field }) => (relation.alias === undefined ? quoted(field.name) : `${quoted(relation.alias)}.${quoted(field.name)}`))
    .join(', ');
  return new AnalysisException({
    errorClass: 'AMBIGUOUS_REFERENCE',
    message: `Reference ${name} is ambiguous, could be: [${references}].`,
    hint: 'write the alias of the relation before the name',
    parameters: { name, referenceNames: `[${references}]` },
  });
}

function quoted(name: string): string {
  return quotedName([name]);
}

function sameName(left: string, right: string): boolean {
  return left.length === right.length && (left === right || left.toLowerCase() === right.toLowerCase());
}
