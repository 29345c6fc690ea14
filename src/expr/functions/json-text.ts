import { assertNever } from '../../base/assert.ts';
import { printJson } from '../../base/bigint-json.ts';
import type { DataType } from '../../schema/types.ts';
import { castSql } from '../sql/cast-sql.ts';
import { sqlText } from '../sql/engine-text.ts';
import { variantFunctions } from '../sql/variant-sql.ts';
import { toLocalSql, type ZoneSql, zoneSqlOf } from '../sql/zone-sql.ts';
import type { ZoneRule } from '../time-zone.ts';
import { bindOnce } from './bind-once.ts';
import { decimalText, floatText } from './java-number.ts';

/**
 * A struct, list or map as the JSON text Spark makes of it: members that are NULL are left out, elements and values that are NULL are
 * `null`; instants have milliseconds and a zone, bytes are base64, numbers are printed as Java prints them. NULL for NULL.
 */
export function jsonTextSql(value: string, type: DataType, zone?: ZoneRule): string {
  return bindOnce(value, '__json', (root) => valueText(root, type, { depth: 0, zone }));
}

interface Place {
  /** Of lists and structs around it. */
  readonly depth: number;
  /** Of local times. */
  readonly zone: ZoneRule;
}

/** `value` is mentioned often: it must be cheap to repeat. */
function valueText(value: string, type: DataType, place: Place): string {
  const { depth, zone } = place;
  const inner: Place = { depth: depth + 1, zone };
  switch (type.kind) {
    case 'string':
      return quoted(value);
    case 'boolean':
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return `CAST(${value} AS VARCHAR)`;
    case 'float':
    case 'double':
      return bindOnce(
        floatText(value),
        '__text',
        (text) => `CASE WHEN ${text} IN ('NaN', 'Infinity', '-Infinity') THEN '"' || ${text} || '"' ELSE ${text} END`,
      );
    case 'decimal':
      return decimalText(value, type.scale);
    case 'date':
      return `('"' || CASE WHEN year(${value}) > 9999 THEN '+' ELSE '' END || CAST(${value} AS VARCHAR) || '"')`;
    case 'timestamp':
      return instantText(value, zoneSqlOf(zone));
    case 'timestamp_ntz':
      return timeText(value, '');
    case 'time':
      return `('"' || CAST(${value} AS VARCHAR) || '"')`;
    case 'timestamp_ns':
      return nanosText(value, 'Z');
    case 'timestamp_ntz_ns':
      return nanosText(value, '');
    case 'binary':
      return `('"' || to_base64(${value}) || '"')`;
    case 'struct':
      return structText(value, type, inner);
    case 'variant':
      return `${variantFunctions.json}(${value})`;
    case 'void':
      return 'NULL';
    case 'list': {
      const item = `"__item${depth}"`;
      const element = `coalesce(${valueText(item, type.element, inner)}, 'null')`;
      return `CASE WHEN ${value} IS NOT NULL THEN '[' || array_to_string(list_transform(${value}, lambda ${item}: ${element}), ',') || ']' END`;
    }
    case 'map':
      return mapText(value, type, place);
    default:
      return assertNever(type);
  }
}

function structText(value: string, type: Extract<DataType, { kind: 'struct' }>, inside: Place): string {
  const members = type.fields.map(({ name, type: member }) => {
    const inner = valueText(`struct_extract(${value}, ${sqlText(name)})`, member, inside);
    return `${sqlText(`${printJson(name)}:`)} || ${inner}`;
  });
  // concat_ws skips the members that are NULL.
  const body = members.length === 0 ? "''" : `concat_ws(',', ${members.join(', ')})`;
  return `CASE WHEN ${value} IS NOT NULL THEN '{' || ${body} || '}' END`;
}

function mapText(value: string, type: Extract<DataType, { kind: 'map' }>, { depth, zone }: Place): string {
  const entry = `"__entry${depth}"`;
  const key = quoted(castSql(`struct_extract(${entry}, 'key')`, { from: type.key, to: { kind: 'string' }, safe: false, zone }));
  const inner = `coalesce(${valueText(`struct_extract(${entry}, 'value')`, type.value, { depth: depth + 1, zone })}, 'null')`;
  const entries = `list_transform(map_entries(${value}), lambda ${entry}: ${key} || ':' || ${inner})`;
  return `CASE WHEN ${value} IS NOT NULL THEN '{' || array_to_string(${entries}, ',') || '}' END`;
}

function quoted(text: string): string {
  return `CAST(to_json(${text}) AS VARCHAR)`;
}

/** A local time with what it is before UTC; `Z` where that is nothing. */
function instantText(value: string, zone: ZoneSql): string {
  if (zone === undefined) return timeText(toLocalSql(value, zone), 'Z');
  return bindOnce(toLocalSql(value, zone), '__local', (local) => {
    const offset = `CAST(epoch(${local}) - epoch(${toLocalSql(value, undefined)}) AS BIGINT)`;
    const digits = (format: string): string => `strftime(make_timestamp(abs(${offset}) * 1000000), '${format}')`;
    const sign = `CASE WHEN ${offset} < 0 THEN '-' ELSE '+' END`;
    const zoneText = `CASE WHEN ${offset} = 0 THEN 'Z' ELSE ${sign} || CASE WHEN ${offset} % 60 = 0 THEN ${digits('%H:%M')} ELSE ${digits('%H:%M:%S')} END END`;
    return `(strftime(${local}, '"%Y-%m-%dT%H:%M:%S.%g') || ${zoneText} || '"')`;
  });
}

function timeText(local: string, zone: string): string {
  return `strftime(${local}, '"%Y-%m-%dT%H:%M:%S.%g${zone}"')`;
}

function nanosText(local: string, zone: string): string {
  return `strftime(${local}, '"%Y-%m-%dT%H:%M:%S.%n${zone}"')`;
}
