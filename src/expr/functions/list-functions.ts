import type { DataType, Field } from '../../schema/types.ts';
import {
  type ArgumentTypes,
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionTable,
  listOf,
  many,
  scalar,
  types,
} from '../function-spec.ts';
import { isIntegral } from '../sql/cast-sql.ts';
import { quoteName, sqlText, typeSql } from '../sql/engine-text.ts';
import { toInstantSql, toLocalSql, zoneSqlOf } from '../sql/zone-sql.ts';
import { applyLambda } from './apply-lambda.ts';
import { bindOnce } from './bind-once.ts';
import { commonOf } from './common-argument.ts';
import { boundedArgument } from './generated-size.ts';

function invalidParameter(name: string, message: string): string {
  return `error(${sqlText(`[INVALID_PARAMETER_VALUE.${name}] ${message}`)})`;
}

/** From the 1-based `from`, or counted from the end when negative; a start before the first element gives nothing. */
function sliceSql(list = 'NULL', from = 'NULL', length = 'NULL'): string {
  const start = `CASE WHEN ${from} < 0 THEN len(${list}) + ${from} + 1 ELSE ${from} END`;
  const badStart = invalidParameter(
    'START',
    'The value of parameter(s) `start` in `slice` is invalid: Expects a positive or a negative value for `start`, but got 0.',
  );
  const badLength = invalidParameter(
    'LENGTH',
    'The value of parameter(s) `length` in `slice` is invalid: Expects `length` greater than or equal to 0.',
  );
  return `CASE WHEN ${list} IS NULL OR ${from} IS NULL OR ${length} IS NULL THEN NULL WHEN ${from} = 0 THEN ${badStart} WHEN ${length} < 0 THEN ${badLength} WHEN ${length} = 0 OR ${start} < 1 THEN list_slice(${list}, 1, 0) ELSE list_slice(${list}, ${start}, ${start} + ${length} - 1) END`;
}

/** NULL among the lists gives NULL. */
function flattenSql(lists = 'NULL'): string {
  return bindOnce(
    lists,
    '__lists',
    (given) => `CASE WHEN len(list_filter(${given}, lambda "__list": "__list" IS NULL)) = 0 THEN flatten(${given}) END`,
  );
}

function flattenType([type]: ArgumentTypes): DataType | undefined {
  return type?.kind === 'list' && type.element.kind === 'list' ? type.element : undefined;
}

/** No common element is NULL, not false, when a side has a NULL and the other any element. */
function overlapSql(left = 'NULL', right = 'NULL'): string {
  const someNull = `(list_count(${left}) < len(${left}) OR list_count(${right}) < len(${right})) AND len(${left}) > 0 AND len(${right}) > 0`;
  return `CASE WHEN ${left} IS NULL OR ${right} IS NULL THEN NULL WHEN list_has_any(${left}, ${right}) THEN true WHEN ${someNull} THEN NULL ELSE false END`;
}

/** Both ends included. Steps of months are counted from the first value, so that the end of a month stays one. */
function sequenceSql(call: EngineCall): string {
  const [from, until, step] = [argument(call, 0), argument(call, 1), call.args[2]];
  const kind = call.types[0]?.kind;
  if (kind !== 'date' && kind !== 'timestamp' && kind !== 'timestamp_ntz') return numberSequence(call);
  if (kind === 'timestamp' && call.call.zone !== undefined && stepsByCalendar(call)) return calendarSequence(call, call.call.zone);
  const days = `to_days(CASE WHEN ${from} <= ${until} THEN 1 ELSE -1 END)`;
  const by = step ?? days;
  const start = kind === 'date' ? `CAST(${from} AS TIMESTAMP)` : from;
  const last = kind === 'date' ? `CAST(${until} AS TIMESTAMP)` : until;
  const size = `(abs(epoch(${last}) - epoch(${start})) / nullif(abs(epoch(${by})), 0))`;
  const end = boundedArgument('sequence', 'elements', { sql: last, size });
  const place = `"__place"`;
  const value = `${start} + (${by}) * CAST(${place} AS INTEGER)`;
  const values = `list_transform(range(0, len(generate_series(${start}, ${end}, ${by})) + 1), lambda ${place}: ${value})`;
  // The bound was asked about above: here it would be asked for each element.
  const within = `list_filter(${values}, lambda "__value": CASE WHEN ${start} <= ${last} THEN "__value" <= ${last} ELSE "__value" >= ${last} END)`;
  return kind === 'date' ? `CAST(${within} AS DATE[])` : within;
}

/** Whether steps are of months and days alone, which are those of local times. */
function stepsByCalendar({ call }: EngineCall): boolean {
  const step = call.arguments[2];
  return step === undefined || (step.kind === 'literal' && step.literal.type === 'interval' && step.literal.micros === 0n);
}

function calendarSequence(call: EngineCall, rule: string): string {
  const zone = zoneSqlOf(rule);
  const [from, until] = [0, 1].map((index) => toLocalSql(argument(call, index), zone));
  const local = sequenceSql({
    ...call,
    args: [from ?? 'NULL', until ?? 'NULL', ...call.args.slice(2)],
    types: [types.timestampNtz, types.timestampNtz],
  });
  return `list_transform(${local}, lambda "__time": ${toInstantSql('"__time"', zone)})`;
}

function numberSequence(call: EngineCall): string {
  const [from, until] = [argument(call, 0), argument(call, 1)];
  const type = numberType(call.types);
  const step = call.args[2] ?? `CASE WHEN ${from} <= ${until} THEN 1 ELSE -1 END`;
  const wrong = `${step} = 0 AND ${from} <> ${until} OR ${step} > 0 AND ${from} > ${until} OR ${step} < 0 AND ${from} < ${until}`;
  const size = `(abs((CAST(${until} AS DOUBLE) - ${from}) / nullif(${step}, 0)) + 1)`;
  const message = `error('[INVALID_PARAMETER_VALUE] Illegal sequence boundaries: ' || ${from} || ' to ' || ${until} || ' by ' || ${step})`;
  const series = `CASE WHEN ${from} = ${until} THEN [CAST(${from} AS BIGINT)] WHEN ${wrong} THEN ${message} ELSE generate_series(${from}, ${boundedArgument('sequence', 'elements', { sql: until, size })}, ${step}) END`;
  return type === undefined ? series : `CAST(${series} AS ${typeSql(type)}[])`;
}

/** Whole numbers become the widest of them. */
function numberType([from, until]: ArgumentTypes): DataType | undefined {
  return isIntegral(from) && isIntegral(until) ? commonOf([from, until]) : (from ?? until);
}

/** Members are called as the columns that are zipped, others by their 0-based place. */
function zippedName(call: CallExpression, index: number): string {
  const given = call.arguments[index];
  if (given?.kind === 'alias') return given.name;
  return (given?.kind === 'column' ? given.path.at(-1) : undefined) ?? String(index);
}

function zipSql({ args, call }: EngineCall): string {
  if (args.length === 0) return '[]';
  const members = args.map((_, index) => `${quoteName(zippedName(call, index))} := struct_extract_at("__zipped", ${index + 1})`);
  const zipped = `list_transform(list_zip(${args.join(', ')}), lambda "__zipped": struct_pack(${members.join(', ')}))`;
  return `CASE WHEN ${args.map((list) => `${list} IS NULL`).join(' OR ')} THEN NULL ELSE ${zipped} END`;
}

function zipType(given: ArgumentTypes, call: CallExpression): DataType | undefined {
  const fields = given.flatMap((type, index): Field[] =>
    type?.kind === 'list' ? [{ name: zippedName(call, index), type: type.element, nullable: true }] : [],
  );
  return fields.length === given.length ? listOf({ kind: 'struct', fields }) : undefined;
}

function zipWithSql(left = 'NULL', right = 'NULL', merge = 'NULL'): string {
  const merged = applyLambda(merge, ['struct_extract_at("__zipped", 1)', 'struct_extract_at("__zipped", 2)']);
  return `CASE WHEN ${left} IS NULL OR ${right} IS NULL THEN NULL ELSE list_transform(list_zip(${left}, ${right}), lambda "__zipped": ${merged}) END`;
}

/** Functions that cut, join and make lists. */
export const listFunctions: FunctionTable = {
  arrays_overlap: scalar(2, overlapSql, types.boolean),
  arrays_zip: built([0, many], zipSql, zipType),
  zip_with: {
    ...built(
      3,
      ({ args }) => zipWithSql(...args),
      ([, , merged]) => listOf(merged),
    ),
    lambda: ([left, right]) => [left?.kind === 'list' ? left.element : undefined, right?.kind === 'list' ? right.element : undefined],
  },
  flatten: built(1, ({ args }) => flattenSql(...args), flattenType),
  slice: scalar(['list', 'integer', 'integer'], sliceSql, 'first'),
  sequence: built([2, 3], sequenceSql, (given) => listOf(numberType(given))),
};
