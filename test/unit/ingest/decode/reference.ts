import { isLosslessNumber, parse } from 'lossless-json';
import type { DataType, StructType } from '../../../../src/schema/types.ts';
import type { Value } from './decoding.ts';

/** Thrown by the reference for a payload that must be refused. */
export class Refused extends Error {}

const numberText = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;

/**
 * The slow, obvious decoding: parse the whole text losslessly, then convert value by value. It does not see duplicate members of one
 * value (the parser does, when the values differ), so callers leave those out.
 */
export function referenceRow(schema: StructType, payload: string): Value {
  let root: unknown;
  try {
    // JSON.parse decides what JSON is; the lossless parser keeps the digits.
    JSON.parse(payload);
    root = parse(payload);
  } catch {
    throw new Refused('not JSON');
  }
  return convert(schema, root);
}

function convert(type: DataType, value: unknown): Value {
  switch (type.kind) {
    case 'struct': {
      const members = objectOf(value);
      return Object.fromEntries(
        type.fields.map((field) => [field.name, convertNullable(field.type, members.get(field.name), field.nullable)]),
      );
    }
    case 'list':
      refuseUnless(Array.isArray(value));
      return Array.from(value, (element) => convertNullable(type.element, element, type.elementNullable));
    case 'map':
      return [...objectOf(value)].map(([key, entry]) => [wellFormed(key), convertNullable(type.value, entry, type.valueNullable)]);
    case 'boolean':
      refuseUnless(typeof value === 'boolean');
      return value;
    case 'string':
      refuseUnless(typeof value === 'string');
      return wellFormed(value);
    case 'long':
      return scaled(numberOf(value, true), 0, 2n ** 63n - 1n, -(2n ** 63n));
    case 'integer':
      return Number(scaled(numberOf(value, false), 0, 2n ** 31n - 1n, -(2n ** 31n)));
    case 'decimal':
      return scaled(numberOf(value, true), type.scale, 10n ** BigInt(type.precision) - 1n, 1n - 10n ** BigInt(type.precision));
    case 'double': {
      if (value === 'NaN' || value === 'Infinity' || value === '-Infinity') return Number(value);
      const number = Number(numberOf(value, false));
      refuseUnless(Number.isFinite(number));
      return number;
    }
    default:
      throw new Refused(`the reference has no ${type.kind}`);
  }
}

function convertNullable(type: DataType, value: unknown, nullable: boolean): Value {
  if (value !== undefined && value !== null) return convert(type, value);
  refuseUnless(nullable);
  return null;
}

function objectOf(value: unknown): ReadonlyMap<string, unknown> {
  refuseUnless(typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value));
  return new Map(Object.entries(value));
}

function wellFormed(text: string): string {
  refuseUnless(!/\p{Cs}/u.test(text));
  return text;
}

function numberOf(value: unknown, acceptsStrings: boolean): string {
  const text = isLosslessNumber(value) ? value.value : value;
  refuseUnless(typeof text === 'string' && (isLosslessNumber(value) || acceptsStrings) && numberText.test(text));
  return text;
}

// Exact by schoolbook: the digits as one integer, then moved by the exponent.
function scaled(text: string, scale: number, max: bigint, min: bigint): bigint {
  const [mantissa = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = BigInt(`${whole}${fraction}`.replace('-', ''));
  const shift = Number(exponent) - fraction.length + scale;
  refuseUnless(digits === 0n || Math.abs(shift) < 1000);
  const power = 10n ** BigInt(digits === 0n ? 0 : Math.abs(shift));
  refuseUnless(shift >= 0 || digits % power === 0n);
  const magnitude = shift >= 0 ? digits * power : digits / power;
  const value = text.startsWith('-') ? -magnitude : magnitude;
  refuseUnless(value >= min && value <= max);
  return value;
}

function refuseUnless(condition: boolean): asserts condition {
  if (!condition) throw new Refused('does not fit');
}
