import { simpleTypeName } from '../../schema/simple-type.ts';
import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  many,
  refused,
  scalar,
  shownAs,
  types,
} from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';
import { sqlText } from '../sql/engine-text.ts';
import { commonArgument, commonOf, differentTypesOf, widened } from './common-argument.ts';

const choice: FunctionSpec = built(
  ['condition', 'any', 'any'],
  (call) => {
    const [test = 'NULL', yes = 'NULL', no = 'NULL'] = widened(call, 1);
    return `CASE WHEN ${test} THEN ${yes} ELSE ${no} END`;
  },
  ([, ...branches], call) => commonArgument(branches, { ...call, arguments: call.arguments.slice(1) }),
  (args) => `(IF(${args.join(', ')}))`,
);

/** `bigint(x)` and its like: casts spelled as functions. */
function castTo(type: DataType): FunctionSpec {
  const cast = built(1, (call) => castSql(argument(call, 0), { from: call.types[0], to: type, safe: false, zone: call.call.zone }), type);
  return shownAs(([value = '']) => value, cast);
}

/** Known when the query is planned, as Spark spells it. */
function typeofSql({ types: [type], call }: EngineCall): string {
  const [given] = call.arguments;
  if (given?.kind === 'literal' && given.literal.type === 'null') return sqlText('void');
  return type === undefined
    ? `error('[UNSUPPORTED_FEATURE] the type of the expression is known to the engine only')`
    : sqlText(simpleTypeName(type));
}

/** Text is compared with text alone. Both skip nulls, as Spark does. */
function extreme(name: 'greatest' | 'least'): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const known = call.types.filter((type) => type !== undefined && type.kind !== 'void');
    if (known.some((type) => type.kind === 'string') && !known.every((type) => type.kind === 'string')) throw differentTypesOf(name, known);
    return `${name}(${widened(call).join(', ')})`;
  };
  return built([2, many], sql, commonArgument);
}

function withZero([type]: readonly (DataType | undefined)[]): DataType | undefined {
  return type === undefined ? undefined : commonOf([type, types.integer]);
}

function sameSql(call: EngineCall): string {
  const [left = 'NULL', right = 'NULL'] = widened(call);
  return `${left} = ${right}`;
}

const told = built(0, () => `error('[UNSUPPORTED_FEATURE] what the session is in is known to queries in SQL only')`, types.string);

/** Rows out of one row: where a query makes them, it knows them by their names. */
const makesRows: FunctionSpec = {
  ...refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  refusalClass: 'UNSUPPORTED_GENERATOR.OUTSIDE_SELECT',
};

/** Choices among values, casts as functions, and what belongs nowhere else. */
export const conditionalFunctions: FunctionTable = {
  coalesce: built([1, many], (call) => `coalesce(${widened(call).join(', ')})`, commonArgument),
  nvl: built(2, (call) => `coalesce(${widened(call).join(', ')})`, commonArgument),
  ifnull: built(2, (call) => `coalesce(${widened(call).join(', ')})`, commonArgument),
  nvl2: built(
    3,
    (call) => {
      const [value = 'NULL', present = 'NULL', absent = 'NULL'] = widened(call, 1);
      return `CASE WHEN ${value} IS NOT NULL THEN ${present} ELSE ${absent} END`;
    },
    ([, ...branches], call) => commonArgument(branches, { ...call, arguments: call.arguments.slice(1) }),
  ),
  nullif: built(
    2,
    (call) => `CASE WHEN ${sameSql(call)} THEN NULL ELSE ${argument(call, 0)} END`,
    ([type]) => type,
  ),
  nullifzero: scalar(1, (value) => `nullif(${value}, 0)`, 'first'),
  zeroifnull: built(
    1,
    (call) => {
      const type = withZero(call.types);
      return `coalesce(${type === undefined ? argument(call, 0) : castSql(argument(call, 0), { from: call.types[0], to: type, safe: false })}, 0)`;
    },
    withZero,
  ),
  if: choice,
  iff: choice,
  isnull: scalar(1, (value) => `(${value} IS NULL)`, types.boolean),
  isnotnull: scalar(1, (value) => `(${value} IS NOT NULL)`, types.boolean),
  greatest: extreme('greatest'),
  least: extreme('least'),
  not: scalar(1, (value) => `(NOT ${value})`, types.boolean),
  equal_null: built(
    2,
    (call) => {
      const [left = 'NULL', right = 'NULL'] = widened(call);
      return `(${left} IS NOT DISTINCT FROM ${right})`;
    },
    types.boolean,
  ),
  typeof: built(1, typeofSql, types.string),
  raise_error: scalar(1, (message) => `error('[USER_RAISED_EXCEPTION] ' || ${message})`),
  assert_true: scalar(
    [1, 2],
    (test, message = `'''assertion'' is not true!'`) =>
      `CASE WHEN ${test} THEN NULL ELSE error('[USER_RAISED_EXCEPTION] ' || ${message}) END`,
  ),
  uuid: { kind: 'scalar', least: 0, most: 0, volatile: true, type: () => types.string, sql: () => 'CAST(uuid() AS VARCHAR)' },

  // Queries put them in; elsewhere there is no session to ask.
  current_catalog: told,
  current_database: told,
  current_schema: told,
  version: told,

  bigint: castTo({ kind: 'long' }),
  binary: castTo({ kind: 'binary' }),
  boolean: castTo({ kind: 'boolean' }),
  date: castTo({ kind: 'date' }),
  decimal: castTo({ kind: 'decimal', precision: 10, scale: 0 }),
  double: castTo({ kind: 'double' }),
  float: castTo({ kind: 'float' }),
  int: castTo({ kind: 'integer' }),
  smallint: castTo({ kind: 'short' }),
  string: castTo({ kind: 'string' }),
  timestamp: castTo({ kind: 'timestamp' }),
  tinyint: castTo({ kind: 'byte' }),

  explode: makesRows,
  explode_outer: makesRows,
  posexplode: makesRows,
  posexplode_outer: makesRows,
  inline: makesRows,
  inline_outer: makesRows,
  stack: refused('it makes rows; use VALUES, or inline(array(struct(…), …))'),
  monotonically_increasing_id: refused('rows have no stable numbers; use row_number() OVER (ORDER BY …)'),
  spark_partition_id: refused('rows are not divided into tasks'),
  input_file_name: refused('rows do not carry their file'),
};
