import { isJsonObject, type JsonObject, type JsonValue, parseJsonWithLongNumbersAsText } from '../../../src/base/bigint-json.ts';
import { type PlainRow, type PlainValue, rowsOf } from '../../../src/codec/rows.ts';
import { physicalPath } from '../../../src/delta/column-mapping/physical-schema.ts';
import type { DeltaSnapshot } from '../../../src/delta/delta-snapshot.ts';
import type { DeltaTable } from '../../../src/delta/delta-table.ts';
import { parseDateText, parseTimestampText } from '../../../src/expr/parse/temporal-text.ts';
import { parseDecimal } from '../../../src/schema/decimal-text.ts';
import type { DataType, Field } from '../../../src/schema/types.ts';
import type { PropertyTables } from './property-tables.ts';

interface Leaf {
  /** In the table's names. */
  readonly path: readonly string[];
  readonly type: DataType;
}

/** What is wrong with the statistics of the table's files at its newest version. */
export async function untrueStatistics(tables: PropertyTables, table: DeltaTable): Promise<readonly string[]> {
  const snapshot = await table.refresh();
  const scan = await table.scan(snapshot);
  const stats = new Map(Array.from(snapshot.files(), (file) => [file.storedPath, file.stats]));
  const faults: string[] = [];
  for (const file of scan.files) {
    const relation = await tables.local.engine.scan({ ...scan, files: [file] }, { withDeletedRows: true });
    const rows: PlainRow[] = [];
    for await (const batch of tables.local.engine.read(relation)) rows.push(...rowsOf([batch]));
    await relation.dispose();
    const path = file.path.slice(tables.local.path(table.name).length + 1);
    faults.push(...untrueStatisticsOfFile(snapshot, stats.get(path), rows).map((fault) => `${path}: ${fault}`));
  }
  return faults;
}

/**
 * What is wrong with the statistics of a file that has exactly these rows, deleted ones included: a count that is not so, a bound that a
 * value lies beyond. Bounds that are absent are right. Read by the words of the format, not by the code that prunes by them.
 */
function untrueStatisticsOfFile(snapshot: DeltaSnapshot, stats: string | undefined, rows: readonly PlainRow[]): readonly string[] {
  const parsed = parseJsonWithLongNumbersAsText(stats ?? '{}', 'statistics');
  const members = isJsonObject(parsed) ? parsed : {};
  const faults: string[] = [];
  if (Number(members['numRecords']) !== rows.length) faults.push(`numRecords ${textOf(members['numRecords'])} of ${rows.length} rows`);
  const stored = snapshot.schema.fields.filter((field) => !snapshot.partitionColumns.includes(field.name));
  for (const leaf of leavesOf(stored, [])) {
    const path = physicalPath(snapshot.schema, leaf.path, snapshot.mapping);
    const values = rows.map((row) => valueAt(row, leaf.path));
    const nulls = memberAt(members['nullCount'], path);
    const known = values.filter((value) => value !== null);
    if (nulls !== undefined && Number(nulls) !== values.length - known.length) {
      faults.push(`${leaf.path.join('.')}: nullCount ${textOf(nulls)} where ${values.length - known.length} are null`);
    }
    faults.push(...untrueBounds(leaf, [memberAt(members['minValues'], path), memberAt(members['maxValues'], path)], known));
  }
  return faults;
}

function untrueBounds(leaf: Leaf, [min, max]: readonly (JsonValue | undefined)[], values: readonly PlainValue[]): readonly string[] {
  const name = leaf.path.join('.');
  const beyond = (bound: JsonValue | undefined, side: 'min' | 'max'): readonly string[] => {
    if (bound === undefined || bound === null) return [];
    if (values.length === 0) return [`${name}: ${side} ${textOf(bound)} without a value`];
    const order = comparison(leaf.type, bound, side);
    if (order === undefined) return [`${name}: ${side} ${textOf(bound)} is no bound of a ${leaf.type.kind}`];
    const wrong = values.find((value) => (side === 'min' ? order(value) < 0 : order(value) > 0));
    return wrong === undefined ? [] : [`${name}: ${side} ${textOf(bound)} and there is ${textOf(wrong)}`];
  };
  return [...beyond(min, 'min'), ...beyond(max, 'max')];
}

/** How a value lies to the bound; `undefined` when the bound is no value of the type. */
function comparison(type: DataType, bound: JsonValue, side: 'min' | 'max'): ((value: PlainValue) => number) | undefined {
  const long = (limit: bigint) => (value: PlainValue) => {
    const own = typeof value === 'bigint' || typeof value === 'number' ? BigInt(value) : 0n;
    return own < limit ? -1 : own > limit ? 1 : 0;
  };
  const text = textOf(bound);
  switch (type.kind) {
    case 'byte':
    case 'short':
    case 'integer':
    case 'long':
      return /^-?\d+$/.test(text) ? long(BigInt(text)) : undefined;
    case 'float':
    case 'double': {
      // NaN is greater than every number, so no bound holds beside one; infinities are text.
      const limit = type.kind === 'float' ? Math.fround(Number(text)) : Number(text);
      if (Number.isNaN(limit)) return undefined;
      return (value) => (Number.isNaN(value) ? 1 : Math.sign(Number(value) - limit) || (Number(value) === limit ? 0 : -1));
    }
    case 'decimal': {
      const limit = parseDecimal(withoutExponent(text), type.precision, type.scale);
      if (limit === undefined) return undefined;
      return (value) => {
        const own = parseDecimal(textOf(value), type.precision, type.scale) ?? 0n;
        return own < limit ? -1 : own > limit ? 1 : 0;
      };
    }
    case 'string':
      // A cut upper bound ends in a character that is greater than all that was cut.
      return typeof bound === 'string' ? (value) => Buffer.compare(Buffer.from(textOf(value)), Buffer.from(bound)) : undefined;
    case 'date': {
      const limit = parseDateText(text);
      return limit === undefined ? undefined : long(BigInt(limit));
    }
    case 'timestamp':
    case 'timestamp_ntz': {
      // Written in milliseconds, cut.
      const limit = parseTimestampText(text)?.micros;
      return limit === undefined ? undefined : long(side === 'max' ? limit + 999n : limit);
    }
    default:
      return undefined;
  }
}

/** A number near zero as text without exponent: `-1e-9` is `-0.000000001`. */
function withoutExponent(text: string): string {
  const [, sign = '', whole = '', fraction = '', places = ''] = /^(-?)(\d)(?:\.(\d+))?e-(\d+)$/.exec(text) ?? [];
  return places === '' ? text : `${sign}0.${'0'.repeat(Number(places) - 1)}${whole}${fraction}`;
}

function leavesOf(fields: readonly Field[], above: readonly string[]): readonly Leaf[] {
  return fields.flatMap((field): readonly Leaf[] => {
    const path = [...above, field.name];
    return field.type.kind === 'struct' ? leavesOf(field.type.fields, path) : [{ path, type: field.type }];
  });
}

function valueAt(row: PlainRow, path: readonly string[]): PlainValue {
  let value: PlainValue = row;
  for (const name of path) {
    if (!isRow(value) || !Object.hasOwn(value, name)) return null;
    value = value[name] ?? null;
  }
  return value;
}

function isRow(value: PlainValue): value is PlainRow {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Map) && !(value instanceof Uint8Array);
}

function memberAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let member: JsonValue | JsonObject | undefined = value;
  for (const name of path) {
    if (!isJsonObject(member) || !Object.hasOwn(member, name)) return undefined;
    member = member[name];
  }
  return member;
}

function textOf(value: JsonValue | PlainValue | undefined): string {
  return typeof value === 'string' ? value : typeof value === 'object' ? 'an object' : `${value}`;
}
