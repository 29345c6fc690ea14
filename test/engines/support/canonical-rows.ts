import type { Row, RowValue } from '../../../src/index.ts';
import type { CanonicalRow } from '../oracle.ts';

/** A row of ours in the form that the oracle's rows have (oracle/canon.py). */
export function canonicalRow(row: Row): CanonicalRow {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, canonicalValue(value)]));
}

function canonicalValue(value: RowValue): unknown {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0.0' : Number.isFinite(value) ? value : String(value);
  if (value instanceof Uint8Array) return Buffer.from(value).toString('hex');
  if (isMap(value)) return mapEntries(value);
  if (isList(value)) return value.map(canonicalValue);
  return canonicalRow(value);
}

/** Engines keep no order of entries: they are sorted by the text of their keys. */
function mapEntries(map: ReadonlyMap<RowValue, RowValue>): readonly unknown[] {
  return [...map]
    .map(([key, value]) => ({ entry: [canonicalValue(key), canonicalValue(value)], sortedBy: JSON.stringify(canonicalValue(key)) }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.sortedBy), Buffer.from(b.sortedBy)))
    .map(({ entry }) => entry);
}

function isMap(value: object): value is ReadonlyMap<RowValue, RowValue> {
  return value instanceof Map;
}

function isList(value: object): value is readonly RowValue[] {
  return Array.isArray(value);
}
