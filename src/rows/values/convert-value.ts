import { becomesVariant, castSql, isPlainCast } from '../../expr/sql/cast-sql.ts';
import { sqlText, typeSql } from '../../expr/sql/engine-sql.ts';
import type { ZoneRule } from '../../expr/time-zone.ts';
import { fieldNamed } from '../../schema/column-path.ts';
import { describeType } from '../../schema/describe-type.ts';
import { everyInnerPair, innerFields } from '../../schema/type-tree.ts';
import type { DataType, Field, StructType } from '../../schema/types.ts';

/**
 * How a value that has another type is taken: `fit` takes only what loses nothing by its type; `store` casts as SQL INSERT does, and what
 * cannot be cast breaks the row; `ansi` casts as `store` does, but never text to another type that has literals of its own; `cast` takes all
 * that CAST does.
 */
export type ConversionRule = 'fit' | 'store' | 'ansi' | 'cast';

/** A value that cannot become the column's. */
export interface ConversionFault {
  /** `overflow`: out of the type's range; `malformed`: text that is no such value; `mismatch`: types that have nothing in common. */
  readonly kind: 'overflow' | 'malformed' | 'mismatch';
  readonly from: DataType;
  readonly to: DataType;
  /** From the column down, `element`, `key` and `value` included. */
  readonly path: readonly string[];
  /** Engine SQL, true for a row whose value has the fault. */
  readonly broken: string;
  /** Engine SQL of the value; absent within lists and maps. */
  readonly value?: string | undefined;
}

interface ConversionOptions {
  readonly rule: ConversionRule;
  readonly path: readonly string[];
  readonly within?: boolean | undefined;
  /** Members of structs match by place, as columns do in INSERT without names. */
  readonly byPosition?: boolean | undefined;
  /** Told of every struct that has other members than its type; throws where that must not be. */
  readonly members?: ((difference: MemberDifference) => void) | undefined;
  /** Zone of local times among the values. Default: UTC. */
  readonly zone?: ZoneRule;
  /** Engine SQL of the value that is replaced, in the type `to`: members that the new value lacks stay as they are. */
  readonly current?: string | undefined;
}

/** What a struct has beyond its type, and what it lacks of it. At least one of them. */
export interface MemberDifference {
  readonly path: readonly string[];
  readonly from: StructType;
  readonly to: StructType;
  readonly extra: readonly Field[];
  readonly missing: readonly Field[];
}

interface Conversion {
  /** Engine SQL of the value in its new type. */
  readonly sql: string;
  /** What must be ruled out before the value is computed. */
  readonly faults: readonly ConversionFault[];
}

/**
 * A value of type `from` as one of type `to`. Struct members match by name, ignoring case, or by place; those that the value lacks are null
 * or stay as they are, and those that the type lacks are left out, unless `members` refuses them. Nothing but null converts between types
 * that have nothing in common: an untyped null arrives as some type.
 */
export function convertValue(
  value: string,
  types: { readonly from: DataType; readonly to: DataType },
  options: ConversionOptions,
): Conversion {
  const { from, to } = types;
  if (sameShape(from, to)) return { sql: value, faults: [] };
  if (from.kind === 'struct' && to.kind === 'struct') return convertStruct(value, { from, to }, options);
  if (from.kind === 'list' && to.kind === 'list') {
    const element = elementOf(options, 'element', { from: from.element, to: to.element }, 'e');
    return {
      sql: `list_transform(${value}, lambda ${element.name}: ${element.sql})`,
      faults: element.faults.map((fault) => anyIn(value, element.name, fault)),
    };
  }
  if (from.kind === 'map' && to.kind === 'map') return convertMap(value, { from, to }, options);
  return convertScalar(value, types, options);
}

function convertStruct(
  value: string,
  types: { readonly from: StructType; readonly to: StructType },
  options: ConversionOptions,
): Conversion {
  const { current, path } = options;
  tellDifference(types, options);
  const faults: ConversionFault[] = [];
  const members = types.to.fields.map((field, index) => {
    const given = matching(types.from, field, { index, byPosition: options.byPosition });
    const own = current === undefined ? undefined : `struct_extract(${current}, ${sqlText(field.name)})`;
    if (given === undefined) return `${namedArgument(field.name)} ${own ?? `CAST(NULL AS ${typeSql(field.type)})`}`;
    const member = `struct_extract(${value}, ${sqlText(given.name)})`;
    const inner = { from: given.type, to: field.type };
    const converted = convertValue(member, inner, { ...options, path: [...path, field.name], current: own });
    faults.push(...converted.faults);
    return `${namedArgument(field.name)} ${converted.sql}`;
  });
  const keeps = current !== undefined && lacksMembers(types.from, types.to);
  const absent = keeps ? `${value} IS NULL AND ${current} IS NULL` : `${value} IS NULL`;
  return { sql: `CASE WHEN ${absent} THEN NULL ELSE struct_pack(${members.join(', ')}) END`, faults };
}

function tellDifference(
  { from, to }: { readonly from: StructType; readonly to: StructType },
  { path, byPosition, members }: ConversionOptions,
): void {
  if (members === undefined) return;
  const extra = from.fields.filter((field, index) => matching(to, field, { index, byPosition }) === undefined);
  const missing = to.fields.filter((field, index) => matching(from, field, { index, byPosition }) === undefined);
  if (extra.length + missing.length > 0) members({ path, from, to, extra, missing });
}

function matching(
  struct: StructType,
  field: Field,
  { index, byPosition }: { readonly index: number; readonly byPosition: boolean | undefined },
): Field | undefined {
  return byPosition === true ? struct.fields[index] : fieldNamed(struct.fields, field.name);
}

/** Whether a struct, or a struct in it, lacks members of its type. */
function lacksMembers(from: StructType, to: StructType): boolean {
  return to.fields.some((field) => {
    const given = fieldNamed(from.fields, field.name);
    if (given === undefined) return true;
    return given.type.kind === 'struct' && field.type.kind === 'struct' && lacksMembers(given.type, field.type);
  });
}

function convertMap(
  value: string,
  { from, to }: { readonly from: Extract<DataType, { kind: 'map' }>; readonly to: Extract<DataType, { kind: 'map' }> },
  options: ConversionOptions,
): Conversion {
  const key = elementOf(options, 'key', { from: from.key, to: to.key }, 'k');
  const inner = elementOf(options, 'value', { from: from.value, to: to.value }, 'v');
  const keys = `list_transform(map_keys(${value}), lambda ${key.name}: ${key.sql})`;
  const values = `list_transform(map_values(${value}), lambda ${inner.name}: ${inner.sql})`;
  return {
    sql: `CASE WHEN ${value} IS NULL THEN NULL ELSE map(${keys}, ${values}) END`,
    faults: [
      ...key.faults.map((fault) => anyIn(`map_keys(${value})`, key.name, fault)),
      ...inner.faults.map((fault) => anyIn(`map_values(${value})`, inner.name, fault)),
    ],
  };
}

/** The conversion of one element, under a name that no enclosing element has. */
function elementOf(
  options: ConversionOptions,
  part: string,
  types: { readonly from: DataType; readonly to: DataType },
  letter: string,
): Conversion & { readonly name: string } {
  const name = `__${letter}${options.path.length}`;
  return { name, ...convertValue(name, types, { ...options, path: [...options.path, part], within: true, current: undefined }) };
}

function anyIn(list: string, name: string, fault: ConversionFault): ConversionFault {
  const broken = `coalesce(len(list_filter(${list}, lambda ${name}: coalesce(${fault.broken}, false))) > 0, false)`;
  return { ...fault, broken, value: undefined };
}

function convertScalar(value: string, types: { readonly from: DataType; readonly to: DataType }, options: ConversionOptions): Conversion {
  const { from, to } = types;
  const fault = { from, to, path: options.path, value: options.within === true ? undefined : value };
  if (widens(from, to)) return { sql: `CAST(${value} AS ${typeSql(to)})`, faults: [] };
  if (!isTaken(options.rule, from, to)) {
    return { sql: `CAST(NULL AS ${typeSql(to)})`, faults: [{ ...fault, kind: 'mismatch', broken: `${value} IS NOT NULL` }] };
  }
  const cast = (safe: boolean): string => castSql(value, { from, to, safe, zone: options.zone });
  if (to.kind === 'string' || to.kind === 'binary') return { sql: cast(false), faults: [] };
  const kind = from.kind === 'string' ? 'malformed' : 'overflow';
  return { sql: cast(false), faults: [{ ...fault, kind, broken: `(${value} IS NOT NULL AND ${cast(true)} IS NULL)` }] };
}

function isTaken(rule: ConversionRule, from: DataType, to: DataType): boolean {
  if (rule === 'fit') return false;
  if (rule === 'cast' && to.kind === 'variant') return becomesVariant(from);
  if (rule === 'cast' && (isPlainCast(from, to) || (nested.has(from.kind) && to.kind === 'string'))) return true;
  return castable(from, to) && !(rule === 'ansi' && from.kind === 'string' && !textOnly.has(to.kind));
}

const integerDigits: ReadonlyMap<DataType['kind'], number> = new Map([
  ['byte', 3],
  ['short', 5],
  ['integer', 10],
  ['long', 20],
]);
const integers: readonly DataType['kind'][] = ['byte', 'short', 'integer', 'long'];

/** Whether every value of `from` is one of `to`, exactly. */
export function widens(from: DataType, to: DataType): boolean {
  const rank = integers.indexOf(from.kind);
  if (rank >= 0) {
    if (integers.includes(to.kind)) return integers.indexOf(to.kind) >= rank;
    if (to.kind === 'double') return from.kind !== 'long';
    return to.kind === 'decimal' && to.precision - to.scale >= (integerDigits.get(from.kind) ?? 0);
  }
  if (from.kind === 'float') return to.kind === 'double';
  if (from.kind === 'decimal' && to.kind === 'decimal') {
    return to.scale >= from.scale && to.precision - to.scale >= from.precision - from.scale;
  }
  return false;
}

const numeric: ReadonlySet<DataType['kind']> = new Set(['byte', 'short', 'integer', 'long', 'float', 'double', 'decimal']);
const temporal: ReadonlySet<DataType['kind']> = new Set(['date', 'timestamp', 'timestamp_ntz', 'timestamp_ns', 'timestamp_ntz_ns']);
/** Types whose values can only be spelled as text, and text itself. */
const textOnly: ReadonlySet<DataType['kind']> = new Set(['string', 'time', 'timestamp_ns', 'timestamp_ntz_ns']);
const nested: ReadonlySet<DataType['kind']> = new Set(['struct', 'list', 'map']);

/** Whether INSERT may cast: among numbers, among dates and times, from text to anything but bytes, from anything but bytes to text. */
function castable(from: DataType, to: DataType): boolean {
  if (nested.has(from.kind) || nested.has(to.kind)) return false;
  if (from.kind === 'string' || to.kind === 'string') return true;
  return (numeric.has(from.kind) && numeric.has(to.kind)) || (temporal.has(from.kind) && temporal.has(to.kind));
}

/** The same type by names and kinds, nullability and ids aside. Member names must be spelled alike and stand in the same order. */
export function sameShape(left: DataType, right: DataType): boolean {
  if (left.kind !== right.kind) return false;
  if (innerFields(left).length === 0) return describeType(left) === describeType(right);
  return everyInnerPair(left, right, (member, other) => member.name === other.name && sameShape(member.type, other.type));
}

function namedArgument(name: string): string {
  return `"${name.replaceAll('"', '""')}" :=`;
}
