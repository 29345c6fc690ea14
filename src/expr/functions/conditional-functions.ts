import { simpleTypeName } from '../../schema/simple-type.ts';
import type { DataType } from '../../schema/types.ts';
import {
  argument,
  built,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  refused,
  renamed,
  scalar,
  shownAs,
  types,
} from '../function-spec.ts';
import { castSql } from '../sql/cast-sql.ts';
import { sqlText } from '../sql/engine-text.ts';
import { commonArgument, widened } from './common-argument.ts';

const many = Number.POSITIVE_INFINITY;

const choice: FunctionSpec = shownAs(
  (args) => `(IF(${args.join(', ')}))`,
  built(
    3,
    (call) => {
      const [test = 'NULL', yes = 'NULL', no = 'NULL'] = widened(call, 1);
      return `CASE WHEN ${test} THEN ${yes} ELSE ${no} END`;
    },
    ([, ...branches], call) => commonArgument(branches, { ...call, arguments: call.arguments.slice(1) }),
  ),
);

/** `bigint(x)` and its like: casts spelled as functions. */
function castTo(type: DataType): FunctionSpec {
  const cast = built(1, (call) => castSql(argument(call, 0), { from: call.types[0], to: type, safe: false }), type);
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

/** Choices among values, casts as functions, and what belongs nowhere else. */
export const conditionalFunctions: FunctionTable = {
  coalesce: built([1, many], (call) => `coalesce(${widened(call).join(', ')})`, commonArgument),
  nvl: built(2, (call) => `coalesce(${widened(call).join(', ')})`, commonArgument),
  ifnull: built(2, (call) => `coalesce(${widened(call).join(', ')})`, commonArgument),
  nvl2: scalar(3, (value, present, absent) => `CASE WHEN ${value} IS NOT NULL THEN ${present} ELSE ${absent} END`),
  nullif: renamed('nullif', 2, 'first'),
  nullifzero: scalar(1, (value) => `nullif(${value}, 0)`, 'first'),
  zeroifnull: scalar(1, (value) => `coalesce(${value}, 0)`, 'first'),
  if: choice,
  iff: choice,
  isnull: scalar(1, (value) => `(${value} IS NULL)`, types.boolean),
  isnotnull: scalar(1, (value) => `(${value} IS NOT NULL)`, types.boolean),
  // Both skip nulls, as Spark does.
  greatest: built([2, many], (call) => `greatest(${widened(call).join(', ')})`, commonArgument),
  least: built([2, many], (call) => `least(${widened(call).join(', ')})`, commonArgument),
  not: scalar(1, (value) => `(NOT ${value})`, types.boolean),
  equal_null: scalar(2, (left, right) => `(${left} IS NOT DISTINCT FROM ${right})`, types.boolean),
  typeof: built(1, typeofSql, types.string),
  raise_error: scalar(1, (message) => `error(${message})`),
  assert_true: scalar([1, 2], (test, message = `'''assertion'' is not true!'`) => `CASE WHEN ${test} THEN NULL ELSE error(${message}) END`),
  uuid: { kind: 'scalar', least: 0, most: 0, volatile: true, type: () => types.string, sql: () => 'CAST(uuid() AS VARCHAR)' },

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

  explode: refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  explode_outer: refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  posexplode: refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  posexplode_outer: refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  inline: refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  inline_outer: refused('it makes rows; use it alone in a select list, in FROM or LATERAL VIEW'),
  stack: refused('it makes rows; use VALUES, or inline(array(struct(…), …))'),
  monotonically_increasing_id: refused('rows have no stable numbers; use row_number() OVER (ORDER BY …)'),
  spark_partition_id: refused('rows are not divided into tasks'),
  input_file_name: refused('rows do not carry their file'),
  // Spark's own algorithms: other results would be taken for theirs.
  hash: refused('use md5 or sha2'),
  xxhash64: refused('use md5 or sha2'),
};
