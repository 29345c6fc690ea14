import { AnalysisException } from '../base/analysis-exception.ts';
import { describeType } from '../schema/describe-type.ts';
import type { DataType, Field } from '../schema/types.ts';
import type { Expression } from './expression.ts';
import { someNode } from './expression-tree.ts';
import { expressionType } from './expression-type.ts';
import { printExpression } from './print-expression.ts';
import { sqlText } from './sql/engine-sql.ts';

/** What a generator makes of each row: columns, and for each the engine's text, to stand side by side in one select list. */
export interface Generated {
  readonly fields: readonly Field[];
  readonly values: readonly string[];
}

type Call = Extract<Expression, { kind: 'call' }>;

const generators: ReadonlySet<string> = new Set(['explode', 'explode_outer', 'posexplode', 'posexplode_outer', 'inline', 'inline_outer']);

/** Whether the expression is a call of a function that makes rows. */
export function isGenerator(expression: Expression): expression is Call {
  return expression.kind === 'call' && isGeneratorName(expression.name);
}

export function isGeneratorName(name: string): boolean {
  return generators.has(name.toLowerCase());
}

/** The argument of a generator, which must be one. @throws AnalysisException `UNSUPPORTED_GENERATOR`, `….NESTED_IN_EXPRESSIONS` 42K0E. */
export function generatorArgument(call: Expression): Expression {
  const [argument, ...others] = isGenerator(call) ? call.arguments : [];
  if (argument !== undefined && others.length === 0) {
    refuseNestedGenerator(argument);
    return argument;
  }
  const message = 'a generator needs one argument: an array or a map';
  throw new AnalysisException({ errorClass: 'UNSUPPORTED_GENERATOR', message, ...refusal });
}

export function callName(call: Expression): string {
  return call.kind === 'call' ? call.name : '';
}

/** @throws AnalysisException `UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS` 42K0E for a generator anywhere in the expression. */
export function refuseNestedGenerator(expression: Expression): void {
  if (!someNode(expression, isGenerator)) return;
  const message = `The generator is not supported: nested in expressions "${printExpression(expression)}".`;
  throw new AnalysisException({ errorClass: 'UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS', message, ...refusal });
}

/**
 * The rows of a generator over a bound argument, in the order of its elements. `sql`: the argument's text. `outer`: a row of NULLs when
 * there are no elements, as a name that ends in `_outer` says too.
 *
 * @throws AnalysisException `DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE` when the argument is no array or map.
 */
export function generate(name: string, argument: Expression, { sql, outer }: { readonly sql: string; readonly outer: boolean }): Generated {
  const lower = name.toLowerCase();
  const kept = outer || lower.endsWith('_outer');
  const type = expressionType(argument);
  const count = elementCountSql(sql, type);
  const rows = (list: string): string => `unnest(${kept ? `CASE WHEN ${count} > 0 THEN ${list} ELSE [NULL] END` : list})`;
  const columns = lower.startsWith('inline') ? inlined(type, rows(sql)) : exploded(type, sql, rows);
  if (columns === undefined) throw wrongInput(name, type);
  const places: Columns = lower.startsWith('pos')
    ? [[field('pos', { kind: 'integer' }), `CAST(${rows(`range(${count})`)} AS INTEGER)`]]
    : [];
  const all = [...places, ...columns];
  return { fields: all.map(([made]) => made), values: all.map(([, text]) => text) };
}

/** The engine's text of how many elements a list or a map has. */
export function elementCountSql(sql: string, type: DataType | undefined): string {
  return type?.kind === 'map' ? `CAST(cardinality(${sql}) AS BIGINT)` : `len(${sql})`;
}

type Columns = readonly (readonly [Field, string])[];

function exploded(type: DataType | undefined, sql: string, rows: (list: string) => string): Columns | undefined {
  if (type?.kind === 'list') return [[field('col', type.element), rows(sql)]];
  if (type?.kind !== 'map') return undefined;
  return [
    [field('key', type.key), rows(`map_keys(${sql})`)],
    [field('value', type.value), rows(`map_values(${sql})`)],
  ];
}

function inlined(type: DataType | undefined, rows: string): Columns | undefined {
  if (type?.kind !== 'list' || type.element.kind !== 'struct') return undefined;
  return type.element.fields.map((member) => [field(member.name, member.type), `struct_extract(${rows}, ${sqlText(member.name)})`]);
}

function field(name: string, type: DataType): Field {
  return { name, type, nullable: true };
}

const refusal = {
  kind: 'unsupported',
  hint: 'a generator stands alone in a select list, in FROM or in LATERAL VIEW',
} as const;

function wrongInput(name: string, type: DataType | undefined): AnalysisException {
  return new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE',
    message: `Cannot resolve "${name}" due to data type mismatch: The first parameter requires the ${name.toLowerCase().startsWith('inline') ? '"ARRAY<STRUCT>"' : '("ARRAY" or "MAP")'} type, however it has the type "${type === undefined ? 'UNKNOWN' : describeType(type).toUpperCase()}".`,
  });
}
