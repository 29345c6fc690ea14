import type { DataType } from '../../schema/types.ts';
import {
  type ArgumentTypes,
  argument,
  built,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  listOf,
  many,
  renamed,
  scalar,
  types,
} from '../function-spec.ts';
import { applyLambda } from './apply-lambda.ts';
import { bindOnce } from './bind-once.ts';

const entryKey = `struct_extract("__entry", 'key')`;
const entryValue = `struct_extract("__entry", 'value')`;

function mapPart(part: 'key' | 'value'): (given: ArgumentTypes) => DataType | undefined {
  return ([type]) => listOf(type?.kind === 'map' ? type[part] : undefined);
}

function entriesType([type]: ArgumentTypes): DataType | undefined {
  if (type?.kind !== 'map') return undefined;
  const key = { name: 'key', type: type.key, nullable: false };
  return listOf({ kind: 'struct', fields: [key, { name: 'value', type: type.value, nullable: type.valueNullable }] });
}

function fromEntriesType([type]: ArgumentTypes): DataType | undefined {
  if (type?.kind !== 'list' || type.element.kind !== 'struct') return undefined;
  const [key, value] = type.element.fields;
  return key === undefined || value === undefined ? undefined : { kind: 'map', key: key.type, value: value.type, valueNullable: true };
}

function fromArraysType([keys, values]: ArgumentTypes): DataType | undefined {
  if (keys?.kind !== 'list' || values?.kind !== 'list') return undefined;
  return { kind: 'map', key: keys.element, value: values.element, valueNullable: true };
}

/** A list with an entry that is NULL is no map. */
function fromEntriesSql(entries = 'NULL'): string {
  return bindOnce(
    entries,
    '__entries',
    (list) => `CASE WHEN len(list_filter(${list}, lambda "__entry": "__entry" IS NULL)) = 0 THEN map_from_entries(${list}) END`,
  );
}

/** A key in two maps is an error. */
function concatSql({ args }: EngineCall): string {
  if (args.length === 0) return 'map([], [])';
  const entries = args.map((map) => `map_entries(${map})`).reduce((left, right) => `list_concat(${left}, ${right})`);
  const anyNull = args.map((map) => `${map} IS NULL`).join(' OR ');
  return `CASE WHEN ${anyNull} THEN NULL ELSE map_from_entries(${entries}) END`;
}

function filterSql(map = 'NULL', test = 'NULL'): string {
  return `map_from_entries(list_filter(map_entries(${map}), lambda "__entry": ${applyLambda(test, [entryKey, entryValue])}))`;
}

function keysSql(map = 'NULL', change = 'NULL'): string {
  return `map(list_transform(map_entries(${map}), lambda "__entry": ${applyLambda(change, [entryKey, entryValue])}), map_values(${map}))`;
}

function valuesSql(map = 'NULL', change = 'NULL'): string {
  return `map(map_keys(${map}), list_transform(map_entries(${map}), lambda "__entry": ${applyLambda(change, [entryKey, entryValue])}))`;
}

/** The keys of both, those of the first before; what a map lacks is NULL. */
function zipSql(left = 'NULL', right = 'NULL', combine = 'NULL'): string {
  const added = `list_filter(map_keys(${right}), lambda "__other": NOT list_contains(map_keys(${left}), "__other"))`;
  const keys = `list_concat(map_keys(${left}), ${added})`;
  const values = ['"__key"', `map_extract(${left}, "__key")[1]`, `map_extract(${right}, "__key")[1]`];
  const zipped = bindOnce(keys, '__keys', (all) => `map(${all}, list_transform(${all}, lambda "__key": ${applyLambda(combine, values)}))`);
  return `CASE WHEN ${left} IS NOT NULL AND ${right} IS NOT NULL THEN ${zipped} END`;
}

/** Delimiters are patterns; an entry without one has no value. */
function textSql(text = 'NULL', pairs = "','", values = "':'"): string {
  const delimiter = `'(?:' || ${values} || ')'`;
  const has = `regexp_matches("__pair", ${delimiter})`;
  const key = `CASE WHEN ${has} THEN regexp_extract("__pair", '(?s)^(.*?)' || ${delimiter}, 1) ELSE "__pair" END`;
  const value = `CASE WHEN ${has} THEN substring("__pair", length(regexp_extract("__pair", '(?s)^.*?' || ${delimiter}, 0)) + 1) END`;
  const all = `regexp_split_to_array(${text}, ${pairs})`;
  const map = bindOnce(all, '__pairs', (list) => {
    const of = (part: string): string => `list_transform(${list}, lambda "__pair": ${part})`;
    return `map(${of(key)}, ${of(value)})`;
  });
  return `CASE WHEN ${text} IS NOT NULL AND ${pairs} IS NOT NULL AND ${values} IS NOT NULL THEN ${map} END`;
}

const entryTypes: FunctionSpec['lambda'] = ([map]) => (map?.kind === 'map' ? [map.key, map.value] : []);

/** The map with other keys or values. */
function mapOf(changed: DataType | undefined, map: DataType | undefined, part: 'key' | 'value'): DataType | undefined {
  return changed === undefined || map?.kind !== 'map'
    ? undefined
    : { ...map, [part]: changed, ...(part === 'value' ? { valueNullable: true } : {}) };
}

/** Functions of maps, those with lambdas among them. */
export const mapFunctions: FunctionTable = {
  map_from_arrays: built(2, (call) => `map(${argument(call, 0)}, ${argument(call, 1)})`, fromArraysType),
  map_from_entries: built(1, ({ args }) => fromEntriesSql(...args), fromEntriesType),
  map_keys: built(1, ({ args }) => `map_keys(${args.join('')})`, mapPart('key')),
  map_values: built(1, ({ args }) => `map_values(${args.join('')})`, mapPart('value')),
  map_entries: built(1, ({ args }) => `map_entries(${args.join('')})`, entriesType),
  map_contains_key: renamed('map_contains', 2, types.boolean),
  map_concat: built([0, many], concatSql, ([type]) => type),
  map_filter: { ...scalar(2, filterSql, 'first'), lambda: entryTypes },
  transform_keys: {
    ...built(
      2,
      ({ args }) => keysSql(...args),
      ([map, key]) => mapOf(key, map, 'key'),
    ),
    lambda: entryTypes,
  },
  transform_values: {
    ...built(
      2,
      ({ args }) => valuesSql(...args),
      ([map, value]) => mapOf(value, map, 'value'),
    ),
    lambda: entryTypes,
  },
  map_zip_with: {
    ...built(
      3,
      ({ args }) => zipSql(...args),
      ([map, , value]) => mapOf(value, map, 'value'),
    ),
    lambda: ([left, right]) => (left?.kind === 'map' && right?.kind === 'map' ? [left.key, left.value, right.value] : []),
  },
  str_to_map: scalar(['ownText', 'ownText?', 'ownText?'], textSql, {
    kind: 'map',
    key: types.string,
    value: types.string,
    valueNullable: true,
  }),
};
