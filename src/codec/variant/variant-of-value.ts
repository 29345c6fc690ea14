import { encodeVariant, type VariantNode } from './encode-variant.ts';
import type { VariantBytes } from './fold-variant.ts';

/**
 * A value of the language as a variant: numbers without a fraction and bigints are integers, other numbers doubles, bytes binary, arrays
 * lists, maps and objects objects; what is `undefined` or null inside of them is the variant `null`.
 */
export function variantOfValue(value: unknown): VariantBytes {
  return encodeVariant(nodeOf(value));
}

function nodeOf(value: unknown): VariantNode {
  if (value === null || value === undefined) return null;
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? BigInt(value) : value;
  if (typeof value === 'boolean' || typeof value === 'string' || typeof value === 'bigint') return value;
  if (value instanceof Uint8Array) return { kind: 'binary', bytes: value };
  if (Array.isArray(value)) return { kind: 'list', elements: value.map(nodeOf) };
  const entries =
    value instanceof Map ? [...value].map(([name, member]) => [String(name), member as unknown] as const) : Object.entries(value);
  return { kind: 'object', members: entries.map(([name, member]) => [name, nodeOf(member)] as const) };
}
