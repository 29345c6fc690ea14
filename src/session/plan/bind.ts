import { AnalysisException } from '../../base/analysis-exception.ts';
import { bindExpression, type ScopeRelation } from '../../expr/bind-expression.ts';
import { bindNow } from '../../expr/bind-parameters.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';
import { mapExpression } from '../../expr/expression-tree.ts';
import type { Field } from '../../schema/types.ts';
import { type Attribute, type Nameable, nameable } from './analyzed.ts';

/** First part of the path of a column that belongs to a certain DataFrame: `df.col(name)`. No name a user writes begins with it. */
export const framePrefix = '\u0001frame:';
/** Marks a field of a scope that stands for exactly one attribute. */
const exactPrefix = '\u0001id:';

/**
 * An expression over the columns of a node: names found, `now()` fixed, and every column path beginning with an attribute's id.
 *
 * @throws AnalysisException what `bindExpression` throws, and `MISSING_ATTRIBUTES` for a column of a DataFrame that is not part of this one.
 */
export function bindTo(expression: Expression, input: Nameable, nowMicros: bigint): Expression {
  const { attributes, hidden = [] } = input;
  const all = nameable(input);
  const exact: Attribute[] = [];
  const marked = mapExpression(
    mapExpression(expression, (node) => withMemberNames(node, attributes, exact)),
    (node) => {
      if (node.kind !== 'column' || node.path[0]?.startsWith(framePrefix) !== true) return node;
      const attribute = ofFrame(node.path, all);
      exact.push(attribute);
      return { ...node, path: [`${exactPrefix}${attribute.id}`, ...node.path.slice(2)] };
    },
  );
  const hiddenScopes = scopesOf(hidden).map((relation) => ({ ...relation, hidden: true }));
  const scope = [...scopesOf(attributes), ...hiddenScopes, ...exactScopes(exact)];
  const bound = bindExpression(bindNow(marked, nowMicros), scope);
  return mapExpression(bound, (node) => {
    // Parameters of lambdas are columns without a type.
    if (node.kind !== 'column' || node.type === undefined) return node;
    const [name = '', ...members] = node.path;
    return { kind: 'column', path: [idOf(name, node.qualifier, all), ...members], type: node.type };
  });
}

export function bindSortKey(key: SortKey, input: Nameable, nowMicros: bigint): SortKey {
  return { ...key, expression: bindTo(key.expression, input, nowMicros) };
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

/** `struct(a, b)` takes the names of its members from its arguments, which get others here: they are written down first. */
function withMemberNames(node: Expression, attributes: readonly Attribute[], exact: Attribute[]): Expression {
  if (node.kind === 'call' && node.name.toLowerCase() === 'arrays_zip') return { ...node, arguments: node.arguments.map(zippedName) };
  if (node.kind !== 'call' || node.name.toLowerCase() !== 'struct') return node;
  const given: readonly Expression[] = node.star === true ? [{ kind: 'star' }] : node.arguments;
  const members = given.flatMap((argument, index): readonly Expression[] => {
    if (argument.kind === 'star') return starMembers(argument.qualifier, attributes, exact);
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
function starMembers(qualifier: string | undefined, attributes: readonly Attribute[], exact: Attribute[]): readonly Expression[] {
  const chosen = attributes.filter((each) => qualifier === undefined || each.qualifier?.toLowerCase() === qualifier.toLowerCase());
  exact.push(...chosen);
  return chosen.flatMap((attribute): readonly Expression[] => [
    { kind: 'literal', literal: { type: 'string', value: attribute.field.name } },
    { kind: 'column', path: [`${exactPrefix}${attribute.id}`] },
  ]);
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
      sqlState: 'XX000',
      message: `column \`${name}\` of another DataFrame is not among the columns here: ${attributes.map((each) => `\`${each.field.name}\``).join(', ')}`,
      hint: 'use a column of the DataFrame the method is called on, or join the other one first',
      parameters: { missingAttributes: name },
    });
  }
  if (candidates.length === 1) return found;
  throw new AnalysisException({
    errorClass: 'AMBIGUOUS_COLUMN_REFERENCE',
    sqlState: '42702',
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
