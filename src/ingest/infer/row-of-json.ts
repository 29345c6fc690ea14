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
  /** The least and the greatest whole number. */
  low: number;
  high: number;
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
  const seen = new SeenObjects();
  for (const sample of samples) seen.see(sample);
  return seen.row(limits);
}

/** What whole numbers become: longs, or the least type that holds those that were seen. */
type Integers = 'long' | 'least';
type Rules = ColumnLimits & { readonly integers: Integers };

/** The same of samples that come one at a time. */
export class SeenObjects {
  readonly #root = unseen();
  #isEmpty = true;

  get isEmpty(): boolean {
    return this.#isEmpty;
  }

  see(sample: JsonObject): void {
    this.#isEmpty = false;
    see(this.#root, sample, 0);
  }

  row(limits: ColumnLimits, integers: Integers = 'long'): FoundRow {
    const { timesOfDay, anyNames } = limits;
    return rowOf(membersOf(this.#root, { timesOfDay, anyNames, integers }));
  }
}

function unseen(): Seen {
  return {
    shapes: new Map(),
    nulls: 0,
    fractions: 0,
    huge: 0,
    low: 0,
    high: 0,
    dates: 0,
    instants: 0,
    members: new Map(),
    element: undefined,
  };
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
  if (shape === 'number') {
    seen.low = Math.min(seen.low, Number(value));
    seen.high = Math.max(seen.high, Number(value));
  }
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

function membersOf({ members }: Seen, limits: Rules): readonly (readonly [string, FoundType])[] {
  return [...members].map(([name, member]) => [name, typeOf(member, limits)]);
}

function typeOf(seen: Seen, limits: Rules): FoundType {
  const [first, ...others] = seen.shapes;
  if (first === undefined) return { why: `null in all ${seen.nulls} records that have it`, isEmpty: true };
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
        : { type: { kind: limits.integers === 'long' ? 'long' : leastInteger(seen) } };
    case 'text':
      if (seen.dates === count) return { type: { kind: 'date' } };
      return { type: { kind: seen.instants === count ? 'timestamp' : 'string' } };
    case 'list':
      return seen.element === undefined
        ? { why: `an empty list in all ${count} records that have it`, isEmpty: true }
        : listOf(typeOf(seen.element, limits));
    case 'object':
      return seen.members.size > maxMembers ? manyMembers(seen, limits) : structOf(membersOf(seen, limits), limits);
  }
}

function leastInteger({ low, high }: Seen): 'byte' | 'short' | 'integer' | 'long' {
  const bits = ([8, 16, 32] as const).find((width) => low >= -(2 ** (width - 1)) && high < 2 ** (width - 1));
  return bits === undefined ? 'long' : ({ 8: 'byte', 16: 'short', 32: 'integer' } as const)[bits];
}

/** Names that go on and on are data. */
function manyMembers(seen: Seen, limits: Rules): FoundType {
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
  to.low = Math.min(to.low, from.low);
  to.high = Math.max(to.high, from.high);
  for (const [name, member] of from.members) add(memberOf(to, name), member);
  if (from.element !== undefined) add((to.element ??= unseen()), from.element);
}
