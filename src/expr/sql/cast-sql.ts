import { AnalysisException } from '../../base/analysis-exception.ts';
import { sqlTypeName } from '../../schema/sql-type.ts';
import type { DataType } from '../../schema/types.ts';
import { bindOnce } from '../functions/bind-once.ts';
import { floatText } from '../functions/java-number.ts';
import type { ZoneRule } from '../time-zone.ts';
import { sqlText, typeSql } from './engine-text.ts';
import { variantFunctions } from './variant-sql.ts';
import { toInstantSql, toLocalSql, zoneSqlOf } from './zone-sql.ts';

export interface CastOptions {
  /** Type of the value; `undefined` when not known. */
  readonly from: DataType | undefined;
  readonly to: DataType;
  /** A value that cannot be cast gives NULL instead of an error (TRY_CAST). */
  readonly safe: boolean;
  /** Of local times; default: UTC. */
  readonly zone?: ZoneRule;
}

const integral: ReadonlySet<string> = new Set(['byte', 'short', 'integer', 'long']);
const floating: ReadonlySet<string> = new Set(['float', 'double']);

/** Whether a type is one of TINYINT, SMALLINT, INT, BIGINT. */
export function isIntegral(type: DataType | undefined): boolean {
  return type !== undefined && integral.has(type.kind);
}

/** Whether a type is one of FLOAT, DOUBLE. */
export function isFloating(type: DataType | undefined): boolean {
  return type !== undefined && floating.has(type.kind);
}

/** Whether values of the type are numbers. */
export function isNumeric(type: DataType | undefined): boolean {
  return isIntegral(type) || isFloating(type) || type?.kind === 'decimal';
}

/**
 * A cast with the meaning it has in Spark's ANSI mode: fractions are cut off towards zero, text must be a whole number to become an
 * integer, binary is UTF-8 text, an instant prints as a local time without zone, seconds since the epoch stand for instants. What does not fit
 * is an error.
 *
 * @throws AnalysisException `DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION` for anything but text made binary.
 */
export function castSql(value: string, options: CastOptions): string {
  const { from, to, safe } = options;
  if (from?.kind === 'void') return `CAST(NULL AS ${typeSql(to)})`;
  if (from?.kind === 'variant') return fromVariant(value, options);
  if (to.kind === 'variant') return toVariant(value, from);
  const refusal = from === undefined ? undefined : refusalOfCast(from, to);
  if (refusal !== undefined) throw refusal;
  const local = zonedCast(value, options);
  if (local !== undefined) return local;
  const special = isIntegral(to) ? toInteger(value, options) : (specialCasts[to.kind]?.(value, options) ?? undefined);
  if (special !== undefined) return special;
  return from !== undefined && from.kind === to.kind && from.kind !== 'decimal' && !isNested(from) ? value : plainCast(value, to, safe);
}

/** Casts between instants and local times of a zone that is not UTC, which the engine's own casts take for it. */
function zonedCast(value: string, { from, to, safe, zone: rule }: CastOptions): string | undefined {
  const zone = zoneSqlOf(rule);
  if (zone === undefined) return undefined;
  const isLocal = from?.kind === 'date' || from?.kind === 'timestamp_ntz';
  if (isLocal && to.kind === 'timestamp') return toInstantSql(value, zone);
  if (from?.kind === 'string' && to.kind === 'timestamp') {
    const local = timeOfText(value, { from, to: { kind: 'timestamp_ntz' }, safe }) ?? value;
    const instant = timeOfText(value, { from, to, safe }) ?? value;
    return `CASE WHEN regexp_matches(${value}, ${sqlText(zoneInText)}) THEN ${instant} ELSE ${toInstantSql(local, zone)} END`;
  }
  if (from?.kind === 'list' && to.kind === 'list') {
    const element = castSql('"__element"', { from: from.element, to: to.element, safe, zone: rule });
    return `list_transform(${value}, lambda "__element": ${element})`;
  }
  const isTold = to.kind === 'string' || to.kind === 'date' || to.kind === 'timestamp_ntz';
  if (from?.kind === 'timestamp') return isTold ? plainCast(toLocalSql(value, zone), to, safe) : undefined;
  if (from !== undefined || (!isTold && to.kind !== 'timestamp')) return undefined;
  // The engine knows the type when it plans, and keeps the one branch; as text all times are alike.
  const text = `CAST(${value} AS VARCHAR)`;
  const cast = isTold
    ? plainCast(toLocalSql(`CAST(${text} AS TIMESTAMP WITH TIME ZONE)`, zone), to, safe)
    : castSql(text, { from: { kind: 'string' }, to, safe, zone: rule });
  const taken = isTold ? `= 'TIMESTAMP WITH TIME ZONE'` : `IN ('TIMESTAMP WITH TIME ZONE', 'TIMESTAMP', 'DATE', 'VARCHAR')`;
  return `(CASE WHEN typeof(${value}) ${taken} THEN ${cast} ELSE ${plainCast(value, to, safe)} END)`;
}

/** A zone after a time of day. */
const zoneInText = '[T ]\\s*\\d{1,2}(:\\d{1,2}(:\\d{1,2}(\\.\\d*)?)?)?\\s*[A-Za-z+-]';

function plainCast(value: string, to: DataType, safe: boolean): string {
  return `${safe ? 'TRY_CAST' : 'CAST'}(${value} AS ${typeSql(to)})`;
}

function isNested({ kind }: DataType): boolean {
  return kind === 'struct' || kind === 'list' || kind === 'map';
}

function toInteger(value: string, { from, to, safe }: CastOptions): string | undefined {
  const whole = safe ? 'TRY_CAST' : 'CAST';
  const target = typeSql(to);
  if (from === undefined) {
    // The engine knows the type when it plans and keeps the one branch. Text casts to anything, so every branch binds.
    const asDouble = `${whole}(trunc(TRY_CAST(CAST(${value} AS VARCHAR) AS DOUBLE)) AS ${target})`;
    const asDecimal = `${whole}(split_part(CAST(${value} AS VARCHAR), '.', 1) AS ${target})`;
    const other = `${whole}(${value} AS ${target})`;
    return `(CASE WHEN typeof(${value}) IN ('DOUBLE', 'FLOAT') THEN ${asDouble} WHEN typeof(${value}) LIKE 'DECIMAL%' THEN ${asDecimal} ELSE ${other} END)`;
  }
  if (isFloating(from) || from.kind === 'decimal') return `${whole}(trunc(${value}) AS ${target})`;
  if (from.kind === 'timestamp')
    return `${whole}((epoch_us(${value}) - (epoch_us(${value}) % 1000000 + 1000000) % 1000000) // 1000000 AS ${target})`;
  if (from.kind !== 'string') return undefined;
  // The engine itself would round '1.5' and read '1e3'.
  const malformed = safe ? 'NULL' : `error(${malformedMessage(value, target)})`;
  return `(CASE WHEN ${value} IS NULL THEN NULL WHEN regexp_full_match(${value}, '\\s*[+-]?[0-9]+\\s*') THEN ${whole}(${value} AS ${target}) ELSE ${malformed} END)`;
}

/** What a variant holds as a value of a plain type, by way of its text. */
function fromVariant(value: string, { to, safe, zone }: CastOptions): string {
  if (to.kind === 'variant') return value;
  if (isNested(to) || to.kind === 'void')
    throw neverCast({ kind: 'variant' }, to, 'read its JSON with a type: from_json(to_json(value), …)');
  const text = `${variantFunctions.text}(${value})`;
  if (to.kind === 'string') return text;
  return bindOnce(text, '__text', (given) => {
    const whole = `CASE WHEN contains(${given}, 'E') THEN CAST(TRY_CAST(trunc(TRY_CAST(${given} AS DOUBLE)) AS HUGEINT) AS VARCHAR) ELSE split_part(${given}, '.', 1) END`;
    const cast = isIntegral(to)
      ? bindOnce(whole, '__whole', (digits) => castSql(digits, { from: { kind: 'string' }, to, safe: true }))
      : castSql(given, { from: { kind: 'string' }, to, safe: true, zone });
    if (safe) return cast;
    const failed = `error('[INVALID_VARIANT_CAST] The variant value ' || ${given} || ' cannot be cast into "${sqlTypeName(to)}". Please use try_variant_get instead.')`;
    return bindOnce(cast, '__cast', (result) => `CASE WHEN ${given} IS NOT NULL AND ${result} IS NULL THEN ${failed} ELSE ${result} END`);
  });
}

function toVariant(value: string, from: DataType | undefined): string {
  if (from?.kind === 'string') return `${variantFunctions.parse}(CAST(to_json(${value}) AS VARCHAR))`;
  if (from?.kind === 'boolean' || isIntegral(from) || from?.kind === 'decimal')
    return `${variantFunctions.parse}(CAST(${value} AS VARCHAR))`;
  if (from?.kind === 'list' && isToldByJson(from)) return `${variantFunctions.parse}(CAST(to_json(${value}) AS VARCHAR))`;
  throw neverCast(from ?? { kind: 'void' }, { kind: 'variant' }, 'make JSON of it: parse_json(to_json(value))');
}

/** Whether a value's JSON says all of it, its type too. */
function isToldByJson(type: DataType): boolean {
  if (type.kind === 'list') return isToldByJson(type.element);
  return type.kind === 'boolean' || type.kind === 'string' || isIntegral(type);
}

/** Whether values of the type are cast to variants. */
export function becomesVariant(type: DataType): boolean {
  return type.kind === 'decimal' || isToldByJson(type);
}

const instants: ReadonlySet<string> = new Set(['date', 'timestamp', 'timestamp_ntz']);

/** What a type is among those that casts go between; `undefined` where all is tried. */
function castClass(type: DataType): 'number' | 'boolean' | 'instant' | 'binary' | 'nested' | undefined {
  if (isNumeric(type)) return 'number';
  if (type.kind === 'boolean' || type.kind === 'binary') return type.kind;
  if (instants.has(type.kind)) return 'instant';
  return isNested(type) ? 'nested' : undefined;
}

/** Why Spark has no such cast, told as it tells it; `undefined`: it has, or all is tried. */
export function refusalOfCast(from: DataType, to: DataType): AnalysisException | undefined {
  if (to.kind === 'binary' && from.kind !== 'string' && from.kind !== 'binary') return neverBinary(from);
  const [one, other] = [castClass(from), castClass(to)];
  if (one === undefined || other === undefined || (one === other && one !== 'nested')) return undefined;
  if (one === 'nested' && from.kind === to.kind) return undefined;
  if (one === 'number' && other === 'boolean') return undefined;
  if (one === 'boolean' && other === 'number') return undefined;
  const [instant, rest] = one === 'instant' ? [from, to] : other === 'instant' ? [to, from] : [undefined, undefined];
  if (instant?.kind === 'timestamp' && rest !== undefined && isNumeric(rest)) return undefined;
  return neverCast(from, to, 'there is no such cast', suggestionOf(from, to));
}

/** Whether CAST goes between them, and both are numbers, truth values, bytes or times. */
export function isPlainCast(from: DataType, to: DataType): boolean {
  return (
    castClass(from) !== undefined &&
    castClass(to) !== undefined &&
    !isNested(from) &&
    !isNested(to) &&
    refusalOfCast(from, to) === undefined
  );
}

/** Between numbers and dates there are functions, between booleans and days a setting of Spark that is not ANSI's. */
function suggestionOf(from: DataType, to: DataType): string {
  if ((isNumeric(from) && to.kind === 'date') || (from.kind === 'date' && isNumeric(to))) return 'CAST_WITH_FUNC_SUGGESTION';
  const isInstant = ({ kind }: DataType): boolean => kind === 'date' || kind === 'timestamp';
  const isBoolean = from.kind === 'boolean' ? to.kind === 'timestamp' : to.kind === 'boolean' && isInstant(from);
  return isBoolean ? 'CAST_WITH_CONF_SUGGESTION' : 'CAST_WITHOUT_SUGGESTION';
}

function neverCast(from: DataType, to: DataType, hint: string, subclass: string = 'CAST_WITHOUT_SUGGESTION'): AnalysisException {
  return new AnalysisException({
    errorClass: `DATATYPE_MISMATCH.${subclass}`,
    message: `cannot cast "${sqlTypeName(from)}" to "${sqlTypeName(to)}"`,
    hint,
    parameters: { srcType: `"${sqlTypeName(from)}"`, targetType: `"${sqlTypeName(to)}"` },
  });
}

function neverBinary(from: DataType): AnalysisException {
  const name = sqlTypeName(from).toUpperCase();
  return new AnalysisException({
    // Spark without ANSI mode takes the bytes of whole numbers.
    errorClass: `DATATYPE_MISMATCH.${isIntegral(from) ? 'CAST_WITH_CONF_SUGGESTION' : 'CAST_WITHOUT_SUGGESTION'}`,
    message: `cannot cast "${name}" to "BINARY"`,
    hint: 'cast to STRING first: its UTF-8 bytes are the binary value',
    parameters: { srcType: `"${name}"`, targetType: '"BINARY"' },
  });
}

function malformedMessage(value: string, target: string): string {
  return `'[CAST_INVALID_INPUT] The value ''' || ${value} || ''' of the type "STRING" cannot be cast to "${target}" because it is malformed.'`;
}

/** `[1, null]`, `{a -> 1}`, `{1, x}`: NULL inside is spelled, members have no names. */
function nestedText(value: string, from: DataType, zone: ZoneRule): string {
  const text = (part: string, type: DataType): string =>
    `coalesce(CAST(${castSql(part, { from: type, to: { kind: 'string' }, safe: false, zone })} AS VARCHAR), 'null')`;
  switch (from.kind) {
    case 'list':
      return `('[' || array_to_string(list_transform(${value}, lambda "__part": ${text('"__part"', from.element)}), ', ') || ']')`;
    case 'map': {
      const entry = `${text(`struct_extract("__entry", 'key')`, from.key)} || ' -> ' || ${text(`struct_extract("__entry", 'value')`, from.value)}`;
      return `('{' || array_to_string(list_transform(map_entries(${value}), lambda "__entry": ${entry}), ', ') || '}')`;
    }
    case 'struct': {
      const members = from.fields.map((field) => text(`struct_extract(${value}, ${sqlText(field.name)})`, field.type));
      return `CASE WHEN ${value} IS NOT NULL THEN '{' || ${members.length === 0 ? "''" : members.join(" || ', ' || ")} || '}' END`;
    }
    default:
      return value;
  }
}

const year = '[+-]?\\d{4,7}';
const isDay = `'\\s*${year}-\\d{1,2}-\\d{1,2}\\s*'`;
const isPartOfDay = `'\\s*${year}(-\\d{1,2})?\\s*'`;

/** A text that begins with a day, a month or a year of four digits at least. Behind a day anything may stand after a blank or T. */
function dayOfText(value: string, { from, to, safe }: CastOptions): string | undefined {
  if (from?.kind !== 'string') return undefined;
  const withMore = `regexp_full_match(${value}, '\\s*${year}-\\d{1,2}-\\d{1,2}[ T].*')`;
  const day = plainCast(`regexp_extract(${trimmed(value)}, '${year}-\\d{1,2}-\\d{1,2}')`, to, safe);
  return `(CASE WHEN ${value} IS NULL THEN NULL WHEN regexp_full_match(${value}, ${isDay}) THEN ${plainCast(trimmed(value), to, safe)} WHEN ${withMore} THEN ${day} ${partOfDay(value, to, safe)} ELSE ${malformedText(value, to, safe)} END)`;
}

/** The engine knows words for times, as `epoch` and `infinity`, takes years of any number of digits, and slashes; and no part of a day. */
function timeOfText(value: string, { from, to, safe }: CastOptions): string | undefined {
  if (from?.kind !== 'string') return undefined;
  const isWord = `regexp_matches(${value}, '[a-zA-Z]{3}') AND regexp_matches(${value}, '^\\s*[-+]?(?i:inf|epo)')`;
  const isOtherDay = `regexp_matches(${value}, '^\\s*(?:[-+]{2}|[-+]?(?:\\d{1,3}-|\\d+/))')`;
  return `(CASE WHEN ${isWord} OR ${isOtherDay} THEN ${malformedText(value, to, safe)} ${partOfDay(value, to, safe)} ELSE ${plainCast(trimmed(value), to, safe)} END)`;
}

/** The engine takes no blanks behind a time, and no plus before a year. */
function trimmed(value: string): string {
  return `ltrim(trim(${value}), '+')`;
}

/** A year alone, or with a month: its first day. */
function partOfDay(value: string, to: DataType, safe: boolean): string {
  const padded = `${trimmed(value)} || CASE WHEN regexp_matches(${value}, '\\d-') THEN '-01' ELSE '-01-01' END`;
  return `WHEN regexp_full_match(${value}, ${isPartOfDay}) THEN ${plainCast(padded, to, safe)}`;
}

function malformedText(value: string, to: DataType, safe: boolean): string {
  return safe ? `CAST(NULL AS ${typeSql(to)})` : `error(${malformedMessage(value, typeSql(to))})`;
}

const specialCasts: Readonly<Record<string, (value: string, options: CastOptions) => string | undefined>> = {
  string: (value, { from, to, safe, zone }) => {
    switch (from?.kind) {
      case 'timestamp':
        return plainCast(`CAST(${value} AS TIMESTAMP)`, to, safe);
      case 'list':
      case 'map':
      case 'struct':
        return nestedText(value, from, zone);
      case 'binary':
        return safe ? `TRY(decode(${value}))` : `decode(${value})`;
      case 'float':
      case 'double':
        return floatText(value);
      case 'decimal':
        // The engine leaves out the zero before the point where the type has no digit there.
        if (from.scale < from.precision) return undefined;
        return from.precision < 38
          ? `CAST(CAST(${value} AS DECIMAL(${from.precision + 1},${from.scale})) AS VARCHAR)`
          : `replace(CAST(${value} AS VARCHAR), '.', '0.')`;
      default:
        return undefined;
    }
  },
  binary: (value, { from }) => (from?.kind === 'string' ? `encode(${value})` : undefined),
  date: dayOfText,
  timestamp_ntz: timeOfText,
  timestamp: (value, options) => (isNumeric(options.from) ? `to_timestamp(CAST(${value} AS DOUBLE))` : timeOfText(value, options)),
  double: (value, { from }) => (from?.kind === 'timestamp' ? `epoch(${value})` : undefined),
  float: (value, { from }) => (from?.kind === 'timestamp' ? `CAST(epoch(${value}) AS FLOAT)` : undefined),
  boolean: (value, { from }) => (isNumeric(from) ? `(${value} <> 0)` : undefined),
};
