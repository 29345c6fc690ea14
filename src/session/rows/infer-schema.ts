import { AnalysisException } from '../../base/analysis-exception.ts';
import { assert } from '../../base/assert.ts';
import { describeType } from '../../schema/describe-type.ts';
import type { DataType, StructType } from '../../schema/types.ts';
import type { RowInput, RowInputValue } from './row.ts';

/**
 * The schema of rows that came without one, all columns nullable, in order of first appearance. A whole `number` and a `bigint` make a
 * long, another `number` a double (both in one column: double), a `Date` a timestamp, a `Map` a map, an object a struct. Text stays a
 * string whatever it looks like. An empty array is unknown until another row fills it.
 *
 * @throws AnalysisException `CANNOT_INFER_EMPTY_SCHEMA` without rows, `CANNOT_MERGE_TYPE` for types that do not go together,
 * `CANNOT_DETERMINE_TYPE` for a column of nulls only.
 */
export function inferSchema(rows: readonly RowInput[]): StructType {
  if (rows.length === 0) {
    throw new AnalysisException({
      errorClass: 'CANNOT_INFER_EMPTY_SCHEMA',
      message: 'cannot infer a schema from no rows',
      hint: 'give the schema, such as "id BIGINT, name STRING"',
    });
  }
  const all = rows.reduce<Guess>((merging, row) => merged(merging, structGuess(row), ''), nothing);
  const schema = known(all, '');
  assert(schema.kind === 'struct', 'rows make a struct');
  return schema;
}

type Guess =
  | { readonly kind: 'nothing' }
  | { readonly kind: 'type'; readonly type: DataType }
  | { readonly kind: 'struct'; readonly members: ReadonlyMap<string, Guess> }
  | { readonly kind: 'list'; readonly element: Guess }
  | { readonly kind: 'map'; readonly key: Guess; readonly value: Guess };

const nothing: Guess = { kind: 'nothing' };
const long: DataType = { kind: 'long' };
const double: DataType = { kind: 'double' };

function structGuess(row: RowInput): Guess {
  return { kind: 'struct', members: new Map(Object.entries(row).map(([name, value]) => [name, guess(value)])) };
}

function guess(value: RowInputValue): Guess {
  if (value === null || value === undefined) return nothing;
  switch (typeof value) {
    case 'boolean':
      return { kind: 'type', type: { kind: 'boolean' } };
    case 'string':
      return { kind: 'type', type: { kind: 'string' } };
    case 'bigint':
      return { kind: 'type', type: long };
    case 'number':
      return { kind: 'type', type: Number.isSafeInteger(value) && !Object.is(value, -0) ? long : double };
    default:
      return objectGuess(value);
  }
}

function objectGuess(value: object): Guess {
  if (value instanceof Date) return { kind: 'type', type: { kind: 'timestamp' } };
  if (value instanceof Uint8Array) return { kind: 'type', type: { kind: 'binary' } };
  if (isList(value)) return { kind: 'list', element: value.reduce<Guess>((all, element) => merged(all, guess(element), '[]'), nothing) };
  if (isMap(value)) {
    const keys = [...value.keys()].reduce<Guess>((all, key) => merged(all, guess(key), 'key'), nothing);
    const values = [...value.values()].reduce<Guess>((all, member) => merged(all, guess(member), 'value'), nothing);
    return { kind: 'map', key: keys, value: values };
  }
  return structGuess(Object.fromEntries(Object.entries(value)));
}

function merged(left: Guess, right: Guess, where: string): Guess {
  if (left.kind === 'nothing') return right;
  if (right.kind === 'nothing') return left;
  if (left.kind === 'struct' && right.kind === 'struct') {
    const members = new Map(left.members);
    for (const [name, member] of right.members) members.set(name, merged(members.get(name) ?? nothing, member, `${where}.${name}`));
    return { kind: 'struct', members };
  }
  if (left.kind === 'list' && right.kind === 'list') return { kind: 'list', element: merged(left.element, right.element, `${where}[]`) };
  if (left.kind === 'map' && right.kind === 'map') {
    return { kind: 'map', key: merged(left.key, right.key, `${where}.key`), value: merged(left.value, right.value, `${where}.value`) };
  }
  if (left.kind === 'type' && right.kind === 'type') {
    if (left.type.kind === right.type.kind) return left;
    const kinds = [left.type.kind, right.type.kind];
    if (kinds.includes('long') && kinds.includes('double')) return { kind: 'type', type: double };
  }
  throw new AnalysisException({
    errorClass: 'CANNOT_MERGE_TYPE',
    message: `column "${where.replace(/^\./, '')}" has values of types ${shown(left)} and ${shown(right)}, which do not go together`,
    hint: 'give the schema, or make the values of one type',
  });
}

function known(guessed: Guess, where: string): DataType {
  switch (guessed.kind) {
    case 'type':
      return guessed.type;
    case 'struct':
      return {
        kind: 'struct',
        fields: [...guessed.members].map(([name, member]) => ({ name, type: known(member, `${where}.${name}`), nullable: true })),
      };
    case 'list':
      return { kind: 'list', element: known(guessed.element, `${where}[]`), elementNullable: true };
    case 'map':
      return { kind: 'map', key: known(guessed.key, `${where}.key`), value: known(guessed.value, `${where}.value`), valueNullable: true };
    case 'nothing':
      throw new AnalysisException({
        errorClass: 'CANNOT_DETERMINE_TYPE',
        message: `column "${where.replace(/^\./, '')}" has no value, so its type is unknown`,
        hint: 'give the schema, such as "id BIGINT, name STRING"',
      });
  }
}

function shown(guessed: Guess): string {
  return guessed.kind === 'type' ? describeType(guessed.type) : guessed.kind;
}

function isList(value: object): value is readonly RowInputValue[] {
  return Array.isArray(value);
}

function isMap(value: object): value is ReadonlyMap<RowInputValue, RowInputValue> {
  return value instanceof Map;
}
