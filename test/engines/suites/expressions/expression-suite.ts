import type { Outcome } from '../restated-case.ts';

/**
 * Expressions of a family of functions, each evaluated by a statement of its own: `SELECT <expression>`. What Spark gives, with the name and
 * the type of the column, is recorded in one line for each; ours must give the same.
 */
export interface ExpressionSuite {
  /** File name of the recording. */
  readonly name: string;
  /** Expressions by what they are about, mostly a function's name. */
  readonly groups: Readonly<Record<string, readonly string[]>>;
  /** What columns are called is asked elsewhere: these are asked many at a time. */
  readonly unnamed?: true;
  /** Settings of the session. */
  readonly conf?: Readonly<Record<string, string>> | undefined;
}

/** What was recorded of a suite: an outcome's line by group and expression. */
export type ExpressionRecording = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** Calls of a function with every combination of the arguments. */
export function calls(name: string, ...given: readonly (readonly string[])[]): readonly string[] {
  const combined = given.reduce<readonly (readonly string[])[]>(
    (rows, values) => rows.flatMap((row) => values.map((value) => [...row, value])),
    [[]],
  );
  return combined.map((row) => `${name}(${row.join(', ')})`);
}

/** Calls of a function with the lists of arguments as they are written. */
export function rows(name: string, ...given: readonly string[]): readonly string[] {
  return given.map((row) => `${name}(${row})`);
}

/** An operator between every pair. */
export function pairs(operator: string, left: readonly string[], right: readonly string[]): readonly string[] {
  return left.flatMap((one) => right.map((other) => `${one} ${operator} ${other}`));
}

/** Groups of calls with one argument, by the function's name. */
export function unary(names: string, values: readonly string[]): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(names.split(' ').map((name) => [name, calls(name, values)]));
}

/** An outcome in one line: type, value, and the column's name where it is not the expression; `!CLASS` of a refusal. */
export function lineOf(expression: string, outcome: Outcome): string {
  if (typeof outcome === 'string') return outcome;
  if ('refused' in outcome) return `!${outcome.refused}`;
  const values = outcome.rows.map((row) => Object.values(JSON.parse(row) as object).map((value) => JSON.stringify(value)));
  const [{ name, type } = { name: '', type: '' }, ...more] = outcome.columns.map(nameAndType);
  const types = [type, ...more.map((column) => column.type)].join(', ');
  const names = more.length === 0 && name === expression ? '' : ` AS ${[name, ...more.map((column) => column.name)].join(', ')}`;
  return withPlainYears(`${types} ${values.map((row) => row.join(', ')).join('; ')}${names}`);
}

/** Years of more than four digits are filled with zeros by one and not by the other. */
export function withPlainYears(line: string): string {
  return line.replaceAll(/"([+-])0*(\d+)-(?=\d\d-\d\d)/g, '"$1$2-');
}

/** Both may have blanks: the type is the longest end that is one. */
function nameAndType(column: string): { readonly name: string; readonly type: string } {
  const at = /^(.*?) ((?:interval [a-z ]+|[a-z_]+(?:\([\d,]+\))?|(?:array|map|struct)<.*>))$/s.exec(column);
  return { name: at?.[1] ?? column, type: at?.[2] ?? '' };
}
