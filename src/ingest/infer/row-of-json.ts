import { isJsonObject, type JsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { type ColumnLimits, type FoundRow, type FoundType, listOf, mapOf, rowOf, structOf } from './found-row.ts';

/** More members under one name are keys of a map, where they are of one type. */
const maxMembers = 200;
const maxDepth = 20;
const maxLong = 2n ** 63n;

type Shape = 'boolean' | 'number' | 'text' | 'object' | 'list';

/** What was seen in the place of one member. */
interface Seen {
  readonly shapes: Map<Shape, number>;
  nulls: number;
  fractions: number;
  huge: number;
  dates: number;
  instants: number;
  readonly members: Map<string, Seen>;
  element: Seen | undefined;
}

const datePattern = /^\d{4}-\d{2}-\d{2}$/;
const instantPattern = /^\d{4}-\d{2}-\d{2}[Tt ]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?(?:[Zz]|[+-]\d{2}:\d{2})$/;

/**
 * Columns for the members of JSON objects, as far as the samples tell: whole numbers are longs, numbers one of which has a fraction doubles, texts that
 * are all dates or all instants are these, objects structs. What was null each time, or of two shapes, is left out with its reason. See
 * docs/spec/json-decoding.md.
 */
export function rowOfJson(samples: readonly JsonObject[], limits: ColumnLimits): FoundRow {
  const root = unseen();
  for (const sample of samples) see(root, sample, 0);
  return rowOf(membersOf(root, limits));
}

function unseen(): Seen {
  return { shapes: new Map(), nulls: 0, fractions: 0, huge: 0, dates: 0, instants: 0, members: new Map(), element: undefined };
}

function see(seen: Seen, value: JsonValue, depth: number): void {
  if (value === null) {
    seen.nulls += 1;
    return;
  }
  const shape = shapeOf(value);
  seen.shapes.set(shape, (seen.shapes.get(shape) ?? 0) + 1);
  if (depth >= maxDepth) return;
  if (typeof value === 'number' && !Number.isInteger(value)) seen.fractions += 1;
  if (typeof value === 'bigint' && (value >= maxLong || value < -maxLong)) seen.huge += 1;
  if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) > Number.MAX_SAFE_INTEGER) seen.huge += 1;
  if (typeof value === 'string') {
    if (datePattern.test(value)) seen.dates += 1;
    if (instantPattern.test(value)) seen.instants += 1;
  }
  if (Array.isArray(value)) for (const element of value as readonly JsonValue[]) see((seen.element ??= unseen()), element, depth + 1);
  else if (isJsonObject(value)) for (const [name, member] of Object.entries(value)) see(memberOf(seen, name), member ?? null, depth + 1);
}

function memberOf({ members }: Seen, name: string): Seen {
  const known = members.get(name);
  if (known !== undefined) return known;
  const made = unseen();
  members.set(name, made);
  return made;
}

function shapeOf(value: Exclude<JsonValue, null>): Shape {
  if (typeof value === 'boolean') return 'boolean';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number' || typeof value === 'bigint') return 'number';
  return Array.isArray(value) ? 'list' : 'object';
}

function membersOf({ members }: Seen, limits: ColumnLimits): readonly (readonly [string, FoundType])[] {
  return [...members].map(([name, member]) => [name, typeOf(member, limits)]);
}

function typeOf(seen: Seen, limits: ColumnLimits): FoundType {
  const [first, ...others] = seen.shapes;
  if (first === undefined) return { why: `null in all ${seen.nulls} records that have it` };
  if (others.length > 0)
    return {
      why: [...seen.shapes]
        .map(([shape, count]) => `${shape} in ${count}`)
        .join(', ')
        .concat(': no type takes all of these'),
    };
  const [shape, count] = first;
  switch (shape) {
    case 'boolean':
      return { type: { kind: 'boolean' } };
    case 'number':
      if (seen.fractions > 0) return { type: { kind: 'double' }, note: 'write decimal(p,s) for amounts of money' };
      return seen.huge > 0
        ? { type: { kind: 'decimal', precision: 38, scale: 0 }, note: 'numbers beyond 64 bits' }
        : { type: { kind: 'long' } };
    case 'text':
      if (seen.dates === count) return { type: { kind: 'date' } };
      return { type: { kind: seen.instants === count ? 'timestamp' : 'string' } };
    case 'list':
      return seen.element === undefined
        ? { why: `an empty list in all ${count} records that have it` }
        : listOf(typeOf(seen.element, limits));
    case 'object':
      return seen.members.size > maxMembers ? manyMembers(seen, limits) : structOf(membersOf(seen, limits), limits);
  }
}

/** Names that go on and on are data. */
function manyMembers(seen: Seen, limits: ColumnLimits): FoundType {
  const all = unseen();
  for (const member of seen.members.values()) add(all, member);
  const found = mapOf(typeOf(all, limits));
  return 'why' in found
    ? { why: `${seen.members.size} names, whose values are ${found.why}` }
    : { ...found, note: `${seen.members.size} names` };
}

function add(to: Seen, from: Seen): void {
  for (const [shape, count] of from.shapes) to.shapes.set(shape, (to.shapes.get(shape) ?? 0) + count);
  for (const key of ['nulls', 'fractions', 'huge', 'dates', 'instants'] as const) to[key] += from[key];
  for (const [name, member] of from.members) add(memberOf(to, name), member);
  if (from.element !== undefined) add((to.element ??= unseen()), from.element);
}
