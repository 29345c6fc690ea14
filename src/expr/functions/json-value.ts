import { assertNever } from '../../base/assert.ts';
import type { DataType } from '../../schema/types.ts';
import { castSql } from '../sql/cast-sql.ts';
import { quoteName, sqlText, typeSql } from '../sql/engine-text.ts';
import { variantFunctions } from '../sql/variant-sql.ts';
import type { ZoneRule } from '../time-zone.ts';
import { bindOnce } from './bind-once.ts';
import { floatText } from './java-number.ts';

type Nested = Extract<DataType, { kind: 'struct' | 'list' | 'map' }>;

/**
 * Text read as JSON of a type. A member that is missing or of another kind is NULL, a list or map with such an element is NULL; text that
 * is no JSON is a struct of NULLs, for lists and maps NULL, as is blank text.
 */
export function jsonValueSql(text: string, type: Nested, zone?: ZoneRule): string {
  const root: Place = { depth: 0, zone };
  return bindOnce(text, '__text', (given) =>
    bindOnce(`CASE WHEN json_valid(${given}) THEN CAST(${given} AS JSON) ELSE CAST('null' AS JSON) END`, '__json', (json) => {
      const value = type.kind === 'struct' ? members(objectOf(json), type, root) : rootValue(json, type, root);
      return `CASE WHEN trim(${given}, chr(32) || chr(9) || chr(10) || chr(13)) <> '' THEN ${value} END`;
    }),
  );
}

interface Place {
  /** Of lists and structs around it. */
  readonly depth: number;
  /** Of local times. */
  readonly zone: ZoneRule;
}

function within({ depth, zone }: Place): Place {
  return { depth: depth + 1, zone };
}

/** One object may stand for the list of it. */
function rootValue(json: string, type: Exclude<Nested, { kind: 'struct' }>, root: Place): string {
  const value = valueOf(json, type, root);
  if (type.kind !== 'list' || type.element.kind !== 'struct') return value;
  return `CASE WHEN json_type(${json}) = 'OBJECT' THEN [${valueOf(json, type.element, root)}] ELSE ${value} END`;
}

/** `json` is mentioned often: it must be cheap to repeat. */
function valueOf(json: string, type: DataType, place: Place): string {
  const { zone } = place;
  const kind = `json_type(${json})`;
  const text = `(${json} ->> '$')`;
  switch (type.kind) {
    case 'string':
      return `CASE WHEN ${kind} = 'DOUBLE' AND NOT regexp_full_match(${text}, '-?[0-9]+') THEN ${floatText(`CAST(${text} AS DOUBLE)`)} ELSE ${text} END`;
    case 'boolean':
      return `CASE WHEN ${kind} = 'BOOLEAN' THEN ${text} = 'true' END`;
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return `CASE WHEN ${kind} IN ('BIGINT', 'UBIGINT') THEN TRY_CAST(${text} AS ${typeSql(type)}) END`;
    case 'float':
    case 'double':
      return `CASE WHEN ${kind} IN ('BIGINT', 'UBIGINT', 'DOUBLE') OR ${text} IN ('NaN', 'Infinity', '-Infinity', '+Infinity', 'INF', '-INF', '+INF') THEN TRY_CAST(${text} AS ${typeSql(type)}) END`;
    case 'decimal':
      return decimalOf(json, type);
    case 'date':
      return `CASE WHEN ${kind} = 'VARCHAR' THEN ${castSql(text, { from: { kind: 'string' }, to: type, safe: true })} END`;
    case 'timestamp': {
      const parsed = `CASE WHEN ${kind} = 'VARCHAR' THEN ${castSql(text, { from: { kind: 'string' }, to: type, safe: true, zone })}`;
      return `${parsed} WHEN ${kind} IN ('BIGINT', 'UBIGINT') THEN TRY(make_timestamptz(CAST(${text} AS BIGINT) * 1000000)) END`;
    }
    case 'timestamp_ntz':
      return `CASE WHEN ${kind} = 'VARCHAR' THEN TRY_CAST(${text} AS TIMESTAMP) END`;
    case 'time':
    case 'timestamp_ns':
    case 'timestamp_ntz_ns':
      return `CASE WHEN ${kind} = 'VARCHAR' THEN TRY_CAST(${text} AS ${typeSql(type)}) END`;
    case 'binary':
      return `CASE WHEN ${kind} = 'VARCHAR' THEN TRY(from_base64(${text})) END`;
    case 'struct':
      return `CASE WHEN ${kind} = 'OBJECT' THEN ${members(json, type, place)} END`;
    case 'variant':
      return `${variantFunctions.parse}(CAST(${json} AS VARCHAR))`;
    case 'void':
      return 'NULL';
    case 'list':
      return listOf(json, type, place);
    case 'map':
      return mapOf(json, type, place);
    default:
      return assertNever(type);
  }
}

/** Digits of a number with a fraction are a double's: past what that holds, the value is not known. */
function decimalOf(json: string, type: DataType): string {
  const text = `(${json} ->> '$')`;
  const lost = `error('[NUMERIC_VALUE_OUT_OF_RANGE] from_json: a number with a fraction and more than 15 digits must be text in the JSON to be read as DECIMAL, but it is ' || ${text})`;
  const digits = `length(ltrim(regexp_replace(split_part(${text}, 'e', 1), '[^0-9]|\\.0$', '', 'g'), '0'))`;
  return `CASE WHEN json_type(${json}) = 'DOUBLE' AND contains(${text}, '.') AND ${digits} > 15 THEN ${lost} WHEN json_type(${json}) IN ('BIGINT', 'UBIGINT', 'DOUBLE', 'VARCHAR') THEN TRY_CAST(${text} AS ${typeSql(type)}) END`;
}

function objectOf(json: string): string {
  return `CASE WHEN json_type(${json}) = 'OBJECT' THEN ${json} END`;
}

/** A struct of the object's members, all found in one pass over its text. */
function members(json: string, type: Extract<DataType, { kind: 'struct' }>, place: Place): string {
  const { depth } = place;
  if (type.fields.length === 0) return 'struct_pack("__nothing" := NULL)';
  const pointers = type.fields.map(({ name }) => sqlText(`/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`));
  return bindOnce(`coalesce(json_extract(${json}, [${pointers.join(', ')}]), [])`, `__members${depth}`, (found) => {
    const values = type.fields.map(
      ({ name, type: member }, index) =>
        `${quoteName(name)} := CAST(${valueOf(`${found}[${index + 1}]`, member, within(place))} AS ${typeSql(member)})`,
    );
    return `struct_pack(${values.join(', ')})`;
  });
}

function listOf(json: string, type: Extract<DataType, { kind: 'list' }>, place: Place): string {
  const { depth } = place;
  const item = `"__element${depth}"`;
  const elements = `CAST(CASE WHEN json_type(${json}) = 'ARRAY' THEN ${json} END AS JSON[])`;
  const made = `list_transform(${elements}, lambda ${item}: struct_pack("json" := ${item}, "value" := ${valueOf(item, type.element, within(place))}))`;
  return bindOnce(made, `__made${depth}`, (pairs) => {
    const value = `list_transform(${pairs}, lambda "__pair": struct_extract("__pair", 'value'))`;
    return `CASE WHEN ${noneFailed(pairs)} THEN ${value} END`;
  });
}

function mapOf(json: string, type: Extract<DataType, { kind: 'map' }>, place: Place): string {
  const { depth } = place;
  const entry = `"__entry${depth}"`;
  const entries = `map_entries(CAST(CASE WHEN json_type(${json}) = 'OBJECT' THEN ${json} END AS MAP(VARCHAR, JSON)))`;
  const value = `"__value${depth}"`;
  const inner = bindOnce(`struct_extract(${entry}, 'value')`, value.slice(1, -1), (reference) =>
    valueOf(reference, type.value, within(place)),
  );
  const key = castSql(`struct_extract(${entry}, 'key')`, { from: { kind: 'string' }, to: type.key, safe: true, zone: place.zone });
  const made = `list_transform(${entries}, lambda ${entry}: struct_pack("json" := struct_extract(${entry}, 'value'), "key" := ${key}, "value" := ${inner}))`;
  return bindOnce(made, `__made${depth}`, (pairs) => {
    const keys = `list_transform(${pairs}, lambda "__pair": struct_extract("__pair", 'key'))`;
    const values = `list_transform(${pairs}, lambda "__pair": struct_extract("__pair", 'value'))`;
    return `CASE WHEN ${noneFailed(pairs)} THEN map(${keys}, ${values}) END`;
  });
}

/** Whether each part that is not `null` has a value. */
function noneFailed(pairs: string): string {
  const failed = `struct_extract("__pair", 'value') IS NULL AND json_type(struct_extract("__pair", 'json')) <> 'NULL'`;
  return `len(list_filter(${pairs}, lambda "__pair": ${failed})) = 0`;
}
