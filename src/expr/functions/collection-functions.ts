import type { DataType, Field } from '../../schema/types.ts';
import {
  type ArgumentTypes,
  argument,
  built,
  type CallExpression,
  type EngineCall,
  type FunctionSpec,
  type FunctionTable,
  listOf,
  literalText,
  many,
  renamed,
  scalar,
  types,
} from '../function-spec.ts';
import { quoteName } from '../sql/engine-text.ts';
import { textFunctions } from '../sql/text-functions.ts';
import { applyLambda } from './apply-lambda.ts';
import { bindOnce } from './bind-once.ts';
import { commonArgument, commonOf, widened } from './common-argument.ts';
import { boundedArgument } from './generated-size.ts';
import { asText, textsSql } from './local-time.ts';

function elementOf([type]: ArgumentTypes): DataType | undefined {
  return type?.kind === 'list' ? type.element : type?.kind === 'map' ? type.value : undefined;
}

function isMap({ types: given }: EngineCall): boolean {
  return given[0]?.kind === 'map';
}

function sizeSql(call: EngineCall): string {
  const value = argument(call, 0);
  return `CAST(${isMap(call) ? `cardinality(${value})` : `len(${value})`} AS INTEGER)`;
}

/** As `tryElementAtSql`; a place outside of the list is an error. */
function elementAtSql(call: EngineCall): string {
  if (isMap(call)) return tryElementAtSql(call);
  const [list, place] = [argument(call, 0), argument(call, 1)];
  const zero = `error('[INVALID_INDEX_OF_ZERO] The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).')`;
  const outside = `error('[INVALID_ARRAY_INDEX_IN_ELEMENT_AT] The index ' || ${place} || ' is out of bounds. The array has ' || len(${list}) || ' elements. Use \`try_element_at\` to tolerate accessing element at invalid index and return NULL instead.')`;
  return `(CASE WHEN ${place} = 0 THEN ${zero} WHEN abs(${place}) > len(${list}) THEN ${outside} ELSE list_extract(${list}, ${place}) END)`;
}

/** The 1-based element of a list, from the end when negative; the value of a map's key. Nothing there is NULL. */
function tryElementAtSql(call: EngineCall): string {
  const value = argument(call, 0);
  const key = argument(call, 1);
  return isMap(call) ? `map_extract_value(${value}, ${key})` : `list_extract(${value}, ${key})`;
}

/** Each value once, in the order of first sight. */
function distinctSql(list = 'NULL'): string {
  return `list_filter(${list}, lambda "__item", "__place": "__place" = list_position(${list}, "__item"))`;
}

/** NULL, not false, when the value is missing among nulls. */
function containsSql(list = 'NULL', value = 'NULL'): string {
  return `CASE WHEN ${list} IS NULL OR ${value} IS NULL THEN NULL WHEN list_contains(${list}, ${value}) THEN true WHEN list_count(${list}) < len(${list}) THEN NULL ELSE false END`;
}

/** Whether a test gives the outcome for any element; NULL when it does for none, and for some is unknown. */
function anyOf(list: string, test: string, outcome: 'true' | 'false'): string {
  const found = outcome === 'true' ? '"__outcome"' : 'NOT "__outcome"';
  return bindOnce(
    `list_transform(${list}, ${test})`,
    '__outcomes',
    (outcomes) =>
      `CASE WHEN ${outcomes} IS NULL THEN NULL WHEN len(list_filter(${outcomes}, lambda "__outcome": ${found})) > 0 THEN true WHEN list_count(${outcomes}) < len(${outcomes}) THEN NULL ELSE false END`,
  );
}

function existsSql(list = 'NULL', test = 'NULL'): string {
  return anyOf(list, test, 'true');
}

function forallSql(list = 'NULL', test = 'NULL'): string {
  return `(NOT ${anyOf(list, test, 'false')})`;
}

function bothGiven(left = 'NULL', right = 'NULL', sql = 'NULL'): string {
  return `CASE WHEN ${left} IS NOT NULL AND ${right} IS NOT NULL THEN ${sql} END`;
}

/** A list with another element, whose type may be wider. */
function grownType([list, value]: ArgumentTypes): DataType | undefined {
  return list?.kind !== 'list' ? undefined : value === undefined ? list : listOf(commonOf([list.element, value]));
}

/** Beyond the ends NULLs fill up; from the end -1 is the last place of the longer list. */
function insertSql(call: EngineCall): string {
  const [list, place, value] = [argument(call, 0), argument(call, 1), argument(call, 2)];
  const zero = `error('[INVALID_INDEX_OF_ZERO] The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).')`;
  return bindOnce(list, '__list', (l) => {
    const at = boundedArgument('array_insert', 'elements', { sql: place, size: `abs(${place})` });
    const gap = (count: string): string => `list_transform(range(0, ${count}), lambda "__gap": list_extract(${l}, 0))`;
    const after = `CASE WHEN ${at} > len(${l}) + 1 THEN list_append(list_concat(${l}, ${gap(`${at} - len(${l}) - 1`)}), ${value}) ELSE list_concat(list_append(list_slice(${l}, 1, ${at} - 1), ${value}), list_slice(${l}, ${at}, len(${l}))) END`;
    const before = `CASE WHEN -${at} > len(${l}) + 1 THEN list_prepend(${value}, list_concat(${gap(`-${at} - len(${l}) - 1`)}, ${l})) ELSE list_concat(list_append(list_slice(${l}, 1, len(${l}) + ${at} + 1), ${value}), list_slice(${l}, len(${l}) + ${at} + 2, len(${l}))) END`;
    return `CASE WHEN ${l} IS NULL OR ${place} IS NULL THEN NULL WHEN ${place} = 0 THEN ${zero} WHEN ${place} > 0 THEN ${after} ELSE ${before} END`;
  });
}

/** Elements of several types become the one that holds them all. */
function arraySql(call: EngineCall): string {
  return `[${widened(call).join(', ')}]`;
}

function mapSql({ args }: EngineCall): string {
  const keys = args.filter((_, index) => index % 2 === 0);
  const values = args.filter((_, index) => index % 2 === 1);
  return `map([${keys.join(', ')}], [${values.join(', ')}])`;
}

/** Members take the name of an alias or a column, else `col1`, `col2`, …. */
function memberName(call: CallExpression, index: number): string {
  const given = call.arguments[index];
  if (given?.kind === 'alias') return given.name;
  return (given?.kind === 'column' ? given.path.at(-1) : undefined) ?? `col${index + 1}`;
}

function structSql({ args, call }: EngineCall): string {
  return `struct_pack(${args.map((value, index) => `${quoteName(memberName(call, index))} := ${value}`).join(', ')})`;
}

function namedStructSql({ args, call }: EngineCall): string {
  const members = args.flatMap((value, index) =>
    index % 2 === 0 ? [] : [`${quoteName(literalText(call, index - 1) ?? `col${(index + 1) / 2}`)} := ${value}`],
  );
  return `struct_pack(${members.join(', ')})`;
}

function structType(names: (index: number) => string, given: ArgumentTypes): DataType | undefined {
  const fields = given.flatMap((type, index): Field[] => (type === undefined ? [] : [{ name: names(index), type, nullable: true }]));
  return fields.length === given.length ? { kind: 'struct', fields } : undefined;
}

function sortSql(list = 'NULL', ascending?: string): string {
  const up = `list_sort(${list}, 'ASC', 'NULLS FIRST')`;
  const down = `list_sort(${list}, 'DESC', 'NULLS LAST')`;
  return ascending === undefined
    ? up
    : ascending === 'true'
      ? up
      : ascending === 'false'
        ? down
        : `CASE WHEN ${ascending} THEN ${up} ELSE ${down} END`;
}

function reduceSql({ args: [list = 'NULL', start = 'NULL', merge = 'NULL', finish] }: EngineCall): string {
  const reduced = `list_reduce(${list}, ${merge}, ${start})`;
  return finish === undefined ? reduced : applyLambda(finish, [reduced]);
}

/** Each element goes behind those that compare less, and behind equal ones before it. */
function sortedBy(list: string, compare: string): string {
  return bindOnce(list, '__unsorted', (all) => {
    const compared = applyLambda(compare, [`list_extract(${all}, "__other")`, `list_extract(${all}, "__place")`]);
    const less = bindOnce(compared, '__order', (order) => `${order} < 0 OR (${order} = 0 AND "__other" < "__place")`);
    const rank = `len(list_filter(range(1, len(${all}) + 1), lambda "__other": ${less}))`;
    const ranked = `list_transform(range(1, len(${all}) + 1), lambda "__place": {'rank': ${rank}, 'place': "__place"})`;
    return `CASE WHEN ${all} IS NOT NULL THEN list_transform(list_sort(${ranked}), lambda "__ranked": list_extract(${all}, "__ranked".place)) END`;
  });
}

const element: FunctionSpec['lambda'] = ([list]) => [elementOf([list]), types.integer];
const transform: FunctionSpec = {
  ...built(
    2,
    ({ args }) => `list_transform(${args.join(', ')})`,
    ([, body]) => listOf(body),
  ),
  lambda: element,
};
const filter: FunctionSpec = { ...renamed('list_filter', 2, 'first'), lambda: element };
const size: FunctionSpec = built(1, sizeSql, types.integer);
const reduce: FunctionSpec = {
  ...built([3, 4], reduceSql, ([, start, , finish], { arguments: given }) => (given.length > 3 ? finish : start)),
  lambda: ([list, start], index) => (index === 2 ? [start, elementOf([list])] : [start]),
};

function repeatSql({ args: [repeated = 'NULL', count = 'NULL'], types: [type] }: EngineCall): string {
  const list = (value: string): string => {
    const size = type?.kind === 'list' ? `CAST(${count} AS DOUBLE) * greatest(coalesce(${elementsSql(value, type)}, 1), 1)` : count;
    const times = boundedArgument('array_repeat', 'elements', { sql: `greatest(${count}, 0)`, size });
    return `CASE WHEN ${count} IS NOT NULL THEN list_transform(range(0, ${times}), lambda "__index": ${value}) END`;
  };
  return type?.kind === 'list' ? bindOnce(repeated, '__repeated', list) : list(repeated);
}

/** Elements of a list with those of the lists in it, which are copied with it. */
function elementsSql(list: string, { element }: Extract<DataType, { kind: 'list' }>, depth: number = 0): string {
  if (element.kind !== 'list') return `len(${list})`;
  const inner = `"__inner${depth}"`;
  return `list_sum(list_transform(${list}, lambda ${inner}: ${elementsSql(inner, element, depth + 1)}))`;
}

function joinSql(call: EngineCall): string {
  const [list, separator, replacement] = [textsSql(call, 0), argument(call, 1), call.args[2]];
  const parts =
    replacement === undefined
      ? `list_filter(${list}, lambda "__part": "__part" IS NOT NULL)`
      : `list_transform(${list}, lambda "__part": coalesce("__part", ${replacement}))`;
  const joined = `CASE WHEN ${list} IS NOT NULL THEN coalesce(array_to_string(${parts}, ${separator}), '') END`;
  return `CASE WHEN ${separator} IS NULL${replacement === undefined ? '' : ` OR ${replacement} IS NULL`} THEN NULL ELSE ${joined} END`;
}

/** Both lists with the elements of the type that holds those of both. */
function ofBoth(sql: (left: string, right: string) => string): FunctionSpec {
  return built(
    2,
    (call) => {
      const [left = 'NULL', right = 'NULL'] = widened(call);
      return bothGiven(left, right, sql(left, right));
    },
    (given, call) => commonArgument(given, call) ?? given[0],
  );
}

/** Functions of lists, maps and structs, those with lambdas among them. */
export const collectionFunctions: FunctionTable = {
  size,
  cardinality: size,
  array_size: size,
  array: built([0, many], arraySql, (given, call) => listOf(commonArgument(given, call))),
  map: built([0, many], mapSql, (given) => {
    const [key, value] = given;
    return key === undefined || value === undefined ? undefined : { kind: 'map', key, value, valueNullable: true };
  }),
  struct: built([1, many], structSql, (given, call) => structType((index) => memberName(call, index), given)),
  named_struct: built([2, many], namedStructSql, (given, call) =>
    structType(
      (index) => literalText(call, 2 * index) ?? `col${index + 1}`,
      given.filter((_, index) => index % 2 === 1),
    ),
  ),
  element_at: built(2, elementAtSql, elementOf),
  try_element_at: built(2, tryElementAtSql, elementOf),
  get: built(
    2,
    (call) => `CASE WHEN ${argument(call, 1)} >= 0 THEN list_extract(${argument(call, 0)}, ${argument(call, 1)} + 1) END`,
    elementOf,
  ),
  array_contains: scalar(2, containsSql, types.boolean),
  array_position: scalar(
    2,
    (list, value) =>
      `CAST(CASE WHEN ${list} IS NULL OR ${value} IS NULL THEN NULL ELSE coalesce(list_position(${list}, ${value}), 0) END AS BIGINT)`,
    types.long,
  ),
  array_distinct: scalar(1, distinctSql, 'first'),
  array_sort: {
    ...scalar(
      [1, 2],
      (list = 'NULL', compare?: string) => (compare === undefined ? `list_sort(${list}, 'ASC', 'NULLS LAST')` : sortedBy(list, compare)),
      'first',
    ),
    lambda: ([list]) => [elementOf([list]), elementOf([list])],
  },
  sort_array: scalar([1, 2], sortSql, 'first'),
  array_max: built(1, ({ args }) => `list_max(${args.join('')})`, elementOf),
  array_min: built(1, ({ args }) => `list_min(${args.join('')})`, elementOf),
  array_join: built([2, 3], joinSql, types.string),
  array_union: ofBoth((left, right) => bindOnce(`list_concat(${left}, ${right})`, '__all', distinctSql)),
  array_intersect: ofBoth((left, right) =>
    distinctSql(`list_filter(${left}, lambda "__item": list_position(${right}, "__item") IS NOT NULL)`),
  ),
  array_except: ofBoth((left, right) => distinctSql(`list_filter(${left}, lambda "__item": list_position(${right}, "__item") IS NULL)`)),
  array_remove: scalar(
    2,
    (list, value) => bothGiven(list, value, `list_filter(${list}, lambda "__item": "__item" IS DISTINCT FROM ${value})`),
    'first',
  ),
  array_append: built(2, ({ args: [list, value] }) => `CASE WHEN ${list} IS NOT NULL THEN list_append(${list}, ${value}) END`, grownType),
  array_prepend: built(2, ({ args: [list, value] }) => `CASE WHEN ${list} IS NOT NULL THEN list_prepend(${value}, ${list}) END`, grownType),
  array_insert: built(['list', 'place', 'any'], insertSql, ([list, , value]) => grownType([list, value])),
  array_repeat: built(['any', 'place'], repeatSql, ([type]) => listOf(type)),
  array_compact: scalar(1, (list) => `list_filter(${list}, lambda "__item": "__item" IS NOT NULL)`, 'first'),
  reverse: built(
    1,
    (call) => {
      if (call.types[0]?.kind === 'list') return `list_reverse(${argument(call, 0)})`;
      const text = call.types[0]?.kind === 'binary' ? `decode(${argument(call, 0)})` : asText(call, 0);
      return `CASE WHEN strlen(${text}) = length(${text}) THEN reverse(${text}) ELSE ${textFunctions.reverse}(${text}) END`;
    },
    ([type]) => (type === undefined || type.kind === 'list' ? type : types.string),
  ),
  transform,
  filter,
  exists: { ...scalar(2, existsSql, types.boolean), lambda: element },
  forall: { ...scalar(2, forallSql, types.boolean), lambda: element },
  aggregate: reduce,
  reduce,
};
