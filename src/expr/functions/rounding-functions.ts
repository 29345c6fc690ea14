import { AnalysisException } from '../../base/analysis-exception.ts';
import type { DataType } from '../../schema/types.ts';
import {
  type ArgumentTypes,
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  literalInteger,
  shownAs,
  types,
} from '../function-spec.ts';
import { castSql, isFloating, isIntegral } from '../sql/cast-sql.ts';
import { typeSql } from '../sql/engine-text.ts';
import { bindOnce } from './bind-once.ts';

type Decimal = Extract<DataType, { kind: 'decimal' }>;
type Mode = 'round' | 'bround' | 'ceil' | 'floor';

const maxPrecision = 38;
const maxDigits = 100n;

function decimal(precision: number, scale: number): Decimal {
  return { kind: 'decimal', precision: Math.max(1, Math.min(maxPrecision, precision)), scale };
}

/** A decimal rounded to so many digits: one digit more before the point, for a carry. */
function roundedType(of: Decimal, digits: number): Decimal {
  const whole = of.precision - of.scale + 1;
  if (digits < 0) return decimal(Math.max(whole, 1 - digits), 0);
  const scale = Math.min(of.scale, digits);
  return decimal(whole + scale, scale);
}

/** Digits after the point, negative before it; 0 where they are not written; `undefined` for NULL. */
function digitsOf(call: CallExpression): number | undefined {
  const given = call.arguments[1];
  if (given === undefined) return 0;
  if (given.kind === 'unary' && given.operator === '-' && given.operand.kind === 'literal' && given.operand.literal.type === 'integer') {
    return -bounded(given.operand.literal.value);
  }
  const known = literalInteger(call, 1);
  if (known !== undefined) return bounded(known);
  if (given.kind === 'literal' && given.literal.type === 'null') return undefined;
  throw new AnalysisException({
    errorClass: 'DATATYPE_MISMATCH.NON_FOLDABLE_INPUT',
    message: `Cannot resolve "${call.name}": the scale is a number that is written, no column.`,
    parameters: { inputName: '`scale`' },
  });
}

function bounded(value: bigint): number {
  return Number(value > maxDigits ? maxDigits : value < -maxDigits ? -maxDigits : value);
}

/** A step of the last digit that stays, as a decimal literal: `0.01` of 2, `100` of -2. */
function unitSql(digits: number): string {
  const text = digits > 0 ? `0.${'0'.repeat(digits - 1)}1` : `1${'0'.repeat(-digits)}`;
  return `CAST('${text}' AS ${typeSql(decimal(Math.max(Math.abs(digits) + 1, 2), Math.max(digits, 0)))})`;
}

/** Exact, in decimals. */
function roundDecimal(mode: Mode, value: string, { type, digits }: { readonly type: Decimal; readonly digits: number }): string {
  const result = roundedType(type, digits);
  const target = typeSql(result);
  if (digits >= type.scale) return `CAST(${value} AS ${target})`;
  // Nothing is left of a number of fewer digits, and the engine knows no such places.
  if (-digits > type.precision - type.scale) return awayFromZero(mode, value, { target, digits });
  const wide = `CAST(${value} AS ${typeSql(decimal(type.precision + 1, type.scale))})`;
  const rounded = `CAST(round(${wide}, ${digits}) AS ${target})`;
  if (mode === 'round') return rounded;
  return bindOnce(value, '__value', (x) =>
    bindOnce(rounded.replaceAll(value, x), '__rounded', (r) => {
      const unit = unitSql(digits);
      if (mode === 'ceil') return `CAST(CASE WHEN ${r} < ${x} THEN ${r} + ${unit} ELSE ${r} END AS ${target})`;
      if (mode === 'floor') return `CAST(CASE WHEN ${r} > ${x} THEN ${r} - ${unit} ELSE ${r} END AS ${target})`;
      const isTie = `abs(${r} - ${x}) * 2 = ${unit} AND ${r} % (${unit} * 2) <> 0`;
      return `CAST(CASE WHEN ${isTie} THEN ${r} - ${unit} * CASE WHEN ${x} < 0 THEN -1 ELSE 1 END ELSE ${r} END AS ${target})`;
    }),
  );
}

function awayFromZero(mode: Mode, value: string, { target, digits }: { readonly target: string; readonly digits: number }): string {
  const away = mode === 'ceil' ? `${value} > 0` : mode === 'floor' ? `${value} < 0` : 'false';
  const unit = mode === 'floor' ? `-${unitSql(digits)}` : unitSql(digits);
  return `CASE WHEN ${away} THEN CAST(${unit} AS ${target}) WHEN ${value} IS NOT NULL THEN CAST(0 AS ${target}) END`;
}

const exactBelow = '1e19';
/** Digits after the point that hold all that a double below one prints, where a rounding can see it; of others. */
const fractionScale = 37;
const textScale = 18;

/** By the digits that the number prints with, as Java's BigDecimal reads it: 2.675 rounds to 2.68. */
function roundFloating(mode: Mode, value: string, { type, digits }: { readonly type: DataType; readonly digits: number }): string {
  return bindOnce(value, '__float', (x) => {
    const inDecimals = (scale: number): string => {
      const text = `CAST(CAST(${x} AS VARCHAR) AS DECIMAL(38,${scale}))`;
      return `CAST(${roundDecimal(mode, text, { type: decimal(38, scale), digits })} AS DOUBLE)`;
    };
    const large = digits >= 0 ? x : `round(${x}, ${digits})`;
    const byText = `CASE WHEN abs(${x}) < 1 THEN ${inDecimals(fractionScale)} WHEN abs(${x}) < ${exactBelow} THEN ${inDecimals(textScale)} ELSE ${large} END`;
    return type.kind === 'double' && Math.abs(digits) <= exactPowers ? roundByNearest(x, digits, byText) : byText;
  });
}

/** Powers of ten up to this one are doubles. */
const exactPowers = 22;
const nearestBelow = '1e9';
/** More than the error of a scaled number below that, the difference to what it prints as among it. */
const tieMargin = '1e-6';

/**
 * Text costs a hundred times as much as numbers. Far from a tie, the whole number of last digits is beyond doubt, and one
 * operation on exact operands gives the double that is nearest to the result.
 */
function roundByNearest(x: string, digits: number, otherwise: string): string {
  const power = `1e${Math.abs(digits)}`;
  const [scale, unscale] = digits >= 0 ? ['*', '/'] : ['/', '*'];
  return bindOnce(`${x} ${scale} ${power}`, '__scaled', (s) => {
    const isFarFromTie = `abs(${s}) < ${nearestBelow} AND abs(abs(${s}) - floor(abs(${s})) - 0.5) > ${tieMargin}`;
    return `CASE WHEN ${isFarFromTie} THEN CAST(${s} AS BIGINT) ${unscale} ${power} ELSE ${otherwise} END`;
  });
}

function roundSql(mode: 'round' | 'bround'): (call: EngineCall) => string {
  return (call) => {
    const value = argument(call, 0);
    const type = call.types[0];
    const digits = digitsOf(call.call);
    if (type === undefined) return mode === 'round' ? `round(${call.args.join(', ')})` : `round_even(${value}, ${call.args[1] ?? '0'})`;
    if (digits === undefined) return `CAST(NULL AS ${typeSql(roundType(call.types, call.call) ?? type)})`;
    if (type.kind === 'decimal') return roundDecimal(mode, value, { type, digits });
    if (isFloating(type)) return `CAST(${roundFloating(mode, value, { type, digits })} AS ${typeSql(type)})`;
    if (digits >= 0) return value;
    const wide = decimal(19, 0);
    return `CAST(${roundDecimal(mode, `CAST(${value} AS ${typeSql(wide)})`, { type: wide, digits })} AS ${typeSql(type)})`;
  };
}

function roundType([type]: ArgumentTypes, call: CallExpression): DataType | undefined {
  return type?.kind === 'decimal' ? roundedType(type, digitsOf(call) ?? 0) : type;
}

/** What `ceil` and `floor` with a scale take a number as. */
function asDecimal(type: DataType | undefined): Decimal {
  switch (type?.kind) {
    case 'decimal':
      return type;
    case 'byte':
      return decimal(3, 0);
    case 'short':
      return decimal(5, 0);
    case 'integer':
      return decimal(10, 0);
    case 'long':
      return decimal(20, 0);
    case 'float':
      return decimal(14, 7);
    default:
      return decimal(30, 15);
  }
}

/** Without a scale BIGINT, of decimals a decimal without fraction; with one a decimal. */
function wholeNumber(mode: 'ceil' | 'floor'): FunctionSpec {
  const sql = (call: EngineCall): string => {
    const value = argument(call, 0);
    const type = call.types[0];
    if (call.args.length > 1) {
      const from = asDecimal(type);
      const digits = digitsOf(call.call);
      if (digits === undefined) throw notWritten(call.call);
      return roundDecimal(mode, castSql(value, { from: type, to: from, safe: false }), { type: from, digits });
    }
    if (isIntegral(type)) return `CAST(${value} AS BIGINT)`;
    if (type?.kind === 'decimal') return roundDecimal(mode, value, { type, digits: 0 });
    if (type === undefined) return `CAST(${mode}(${value}) AS BIGINT)`;
    return bindOnce(value, '__value', (x) => longOf(`${mode}(${x})`));
  };
  const type = ([given]: ArgumentTypes, call: CallExpression): DataType | undefined => {
    if (call.arguments.length > 1) return roundedType(asDecimal(given), digitsOf(call) ?? 0);
    return given?.kind === 'decimal' ? roundedType(given, 0) : types.long;
  };
  const shown = (args: readonly string[]): string => `${args.length > 1 ? mode : mode.toUpperCase()}(${args.join(', ')})`;
  return built(['number', 'any?'], sql, type, shown);
}

function notWritten(call: CallExpression): AnalysisException {
  return new AnalysisException({
    errorClass: 'NON_FOLDABLE_ARGUMENT',
    message: `The function \`${call.name}\` requires the parameter \`scale\` to be a foldable expression of the type "INT", but the actual argument is a non-foldable.`,
    parameters: { funcName: `\`${call.name}\``, paramName: '`scale`', paramType: '"INT"' },
  });
}

/** A whole double as BIGINT, at the ends of its range where it is beyond them, as Java casts. */
export function longOf(value: string): string {
  return `CASE WHEN isnan(${value}) THEN 0 WHEN ${value} >= 9223372036854775807 THEN 9223372036854775807 WHEN ${value} <= -9223372036854775808 THEN -9223372036854775808 ELSE CAST(${value} AS BIGINT) END`;
}

const shownRound = (name: string) => (args: readonly string[]) => `${name}(${args[0] ?? ''}, ${args[1] ?? '0'})`;

/** Functions that cut digits off. */
export const roundingFunctions: FunctionTable = {
  ceil: wholeNumber('ceil'),
  ceiling: shownAs((args) => `ceiling(${args.join(', ')})`, wholeNumber('ceil')),
  floor: wholeNumber('floor'),
  round: built(['number', 'integer?'], roundSql('round'), roundType, shownRound('round')),
  bround: built(['number', 'integer?'], roundSql('bround'), roundType, shownRound('bround')),
  rint: built(
    ['double'],
    (call) =>
      `CASE WHEN abs(${argument(call, 0)}) < 4503599627370496 THEN round_even(${argument(call, 0)}, 0) ELSE ${argument(call, 0)} END`,
    types.double,
  ),
};
