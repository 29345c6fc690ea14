import type { DataType } from '../schema/types.ts';
import type { Expression } from './expression.ts';
import type { ParameterKind } from './parameter-types.ts';

export type CallExpression = Extract<Expression, { kind: 'call' }>;

/** A call whose arguments are engine SQL already. */
export interface EngineCall {
  readonly call: CallExpression;
  readonly args: readonly string[];
  /** Types of the arguments; `undefined` where not known. */
  readonly types: readonly (DataType | undefined)[];
  /** Appends FILTER (joined with a further condition) and OVER to an aggregate. */
  readonly modified: (sql: string, andFilter?: string) => string;
}

/** One function of Spark's dialect. */
export interface FunctionSpec {
  readonly kind: 'scalar' | 'aggregate' | 'window';
  /** Number of arguments, both ends included. */
  readonly least: number;
  readonly most: number;
  /** Another value for each call with the same arguments. */
  readonly volatile?: boolean | undefined;
  /** Why there is no such function here though Spark has one; a call is refused with it. */
  readonly refused?: string | undefined;
  /** Of the refusal; default `UNSUPPORTED_FUNCTION`. */
  readonly refusalClass?: string | undefined;
  /** Why a call with as many arguments is refused; `undefined`: it is not. */
  readonly refusedWith?: ((count: number) => string | undefined) | undefined;
  /** What the parameters take, the last one for all after it; arguments are cast to it. Without it they stay as they are. */
  readonly takes?: readonly ParameterKind[] | undefined;
  /** How Spark names a column of the call, of its arguments' names; without it the function's name and they. */
  readonly shown?: ((args: readonly string[]) => string) | undefined;
  /** The types of a lambda's parameters, by the place of the argument that it is. */
  readonly lambda?: ((types: readonly (DataType | undefined)[], index: number) => readonly (DataType | undefined)[]) | undefined;
  /** The result's type, of the arguments' after their casts; `undefined` when not known. */
  readonly type?: ((types: readonly (DataType | undefined)[], call: CallExpression) => DataType | undefined) | undefined;
  readonly sql: (call: EngineCall) => string;
}

export type FunctionTable = Readonly<Record<string, FunctionSpec>>;

/** The `index`th argument's SQL; NULL beyond the last. */
export function argument({ args }: EngineCall, index: number): string {
  return args[index] ?? 'NULL';
}

type NamedTypes = Readonly<
  Record<'boolean' | 'integer' | 'long' | 'double' | 'string' | 'binary' | 'date' | 'timestamp' | 'timestampNtz', DataType>
>;

export const types: NamedTypes = {
  boolean: { kind: 'boolean' },
  integer: { kind: 'integer' },
  long: { kind: 'long' },
  double: { kind: 'double' },
  string: { kind: 'string' },
  binary: { kind: 'binary' },
  date: { kind: 'date' },
  timestamp: { kind: 'timestamp' },
  timestampNtz: { kind: 'timestamp_ntz' },
};

/** Of a function with any number of arguments. */
export const many: number = Number.POSITIVE_INFINITY;

/** Types of arguments, `undefined` where not known. */
export type ArgumentTypes = readonly (DataType | undefined)[];

export function listOf(element: DataType | undefined): DataType | undefined {
  return element === undefined ? undefined : { kind: 'list', element, elementNullable: true };
}

type Builder = (...args: readonly string[]) => string;

/** What a parameter takes; with `?` it may be left out, with `...` any number of arguments may stand for it. */
type Parameter = ParameterKind | `${ParameterKind}?` | `${ParameterKind}...`;

/** What a function takes: so many arguments (one number, or least and most) as they are, or its parameters. */
export type Parameters = number | readonly [number, number] | readonly Parameter[];

/** How many arguments there may be, and what they are cast to. */
function parametersOf(given: Parameters): Pick<FunctionSpec, 'least' | 'most' | 'takes'> {
  if (typeof given === 'number') return { least: given, most: given };
  if (isArity(given)) return { least: given[0], most: given[1] };
  return {
    least: given.filter((parameter) => !/[?.]$/.test(parameter)).length,
    most: given.some((parameter) => parameter.endsWith('...')) ? Number.POSITIVE_INFINITY : given.length,
    takes: given.map((parameter) => parameter.replace(/[?.]+$/, '') as ParameterKind),
  };
}

function isArity(given: Exclude<Parameters, number>): given is readonly [number, number] {
  return typeof given[0] === 'number';
}

/** The type of a result: always the same, the first argument's, or made of the arguments'; not known when left out. */
export type ResultType = DataType | 'first' | FunctionSpec['type'];

/** A scalar function whose text is made of its arguments' texts. */
export function scalar(parameters: Parameters, build: Builder, type?: ResultType, shown?: Shown): FunctionSpec {
  return built(parameters, ({ args }) => build(...args), type, shown);
}

/** A scalar function that the engine has under the same or another name. */
export function renamed(name: string, parameters: Parameters, type?: ResultType): FunctionSpec {
  return scalar(parameters, (...args) => `${name}(${args.join(', ')})`, type);
}

/** A scalar function that needs more than the texts of its arguments. */
export function built(parameters: Parameters, sql: FunctionSpec['sql'], type?: ResultType, shown?: Shown): FunctionSpec {
  const rule: FunctionSpec['type'] = type === 'first' ? ([first]) => first : typeof type === 'function' ? type : type && (() => type);
  const spec: FunctionSpec = { kind: 'scalar', ...parametersOf(parameters), sql, type: rule };
  return shown === undefined ? spec : shownAs(shown, spec);
}

/** A function that Spark has and this engine does not run. */
export function refused(reason: string): FunctionSpec {
  return { kind: 'scalar', least: 0, most: Number.POSITIVE_INFINITY, refused: reason, sql: () => 'NULL' };
}

/** The value of an argument that must be a string literal; `undefined` when it is something else. */
export function literalText(call: CallExpression, index: number): string | undefined {
  const given = call.arguments[index];
  return given?.kind === 'literal' && given.literal.type === 'string' ? given.literal.value : undefined;
}

/** The value of an argument that must be an integer literal; `undefined` when it is something else. */
export function literalInteger(call: CallExpression, index: number): bigint | undefined {
  const given = call.arguments[index];
  return given?.kind === 'literal' && given.literal.type === 'integer' ? given.literal.value : undefined;
}

type Shown = string | ((args: readonly string[]) => string);

/** The function with the name that Spark gives a column of it: another function's, or a text made of the arguments'. */
export function shownAs(shown: Shown, spec: FunctionSpec): FunctionSpec {
  return { ...spec, shown: typeof shown === 'string' ? (args) => `${shown}(${args.join(', ')})` : shown };
}
