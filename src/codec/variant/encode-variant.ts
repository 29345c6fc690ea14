import type { VariantBytes } from './fold-variant.ts';

/** A value to be made a variant. Integers and decimals get the narrowest width that holds them. */
export type VariantNode =
  | null
  | boolean
  | string
  /** A 64-bit floating number. */
  | number
  /** An integer. */
  | bigint
  | { readonly kind: 'decimal'; readonly unscaled: bigint; readonly scale: number }
  | { readonly kind: 'binary'; readonly bytes: Uint8Array }
  | { readonly kind: 'list'; readonly elements: readonly VariantNode[] }
  /** Names are distinct. */
  | { readonly kind: 'object'; readonly members: readonly (readonly [name: string, value: VariantNode])[] };

const maxShortText = 63;
/** Digits that a decimal at most has. */
export const maxDecimalDigits = 38;

/** The bytes of a variant (https://github.com/apache/parquet-format/blob/master/VariantEncoding.md). */
export function encodeVariant(node: VariantNode): VariantBytes {
  const names = new Map<string, number>();
  const value = valueOf(node, names);
  return { metadata: metadataOf([...names.keys()]), value };
}

function metadataOf(names: readonly string[]): Uint8Array {
  const texts = names.map((name) => Buffer.from(name, 'utf8'));
  const total = texts.reduce((sum, text) => sum + text.length, 0);
  const size = bytesFor(Math.max(total, names.length));
  const header = 1 | ((size - 1) << 6);
  return Buffer.concat([Buffer.of(header), unsigned(names.length, size), offsetsOf(texts, size), ...texts]);
}

function valueOf(node: VariantNode, names: Map<string, number>): Buffer {
  if (node === null) return Buffer.of(0);
  if (typeof node === 'boolean') return Buffer.of((node ? 1 : 2) << 2);
  if (typeof node === 'string') return textOf(node);
  if (typeof node === 'number') {
    const bytes = Buffer.alloc(9);
    bytes.writeUInt8(7 << 2);
    bytes.writeDoubleLE(node, 1);
    return bytes;
  }
  if (typeof node === 'bigint') return integerOf(node);
  switch (node.kind) {
    case 'decimal':
      return decimalOf(node.unscaled, node.scale);
    case 'binary':
      return Buffer.concat([Buffer.of(15 << 2), unsigned(node.bytes.length, 4), node.bytes]);
    case 'list': {
      const elements = node.elements.map((element) => valueOf(element, names));
      const size = bytesFor(lengthOf(elements));
      const large = elements.length > 255;
      const header = 3 | ((size - 1) << 2) | (large ? 0x10 : 0);
      return Buffer.concat([Buffer.of(header), unsigned(elements.length, large ? 4 : 1), offsetsOf(elements, size), ...elements]);
    }
    case 'object':
      return objectOf(node.members, names);
  }
}

function objectOf(members: readonly (readonly [name: string, value: VariantNode])[], names: Map<string, number>): Buffer {
  for (const [name] of members) if (!names.has(name)) names.set(name, names.size);
  // Members stand in the order of their names, whatever numbers the dictionary gave them.
  const sorted = members.toSorted(([left], [right]) => Buffer.compare(Buffer.from(left), Buffer.from(right)));
  const ids = sorted.map(([name]) => names.get(name) ?? 0);
  const values = sorted.map(([, value]) => valueOf(value, names));
  const size = bytesFor(lengthOf(values));
  const idSize = bytesFor(Math.max(0, ...ids));
  const large = values.length > 255;
  const header = 2 | ((size - 1) << 2) | ((idSize - 1) << 4) | (large ? 0x40 : 0);
  return Buffer.concat([
    Buffer.of(header),
    unsigned(values.length, large ? 4 : 1),
    ...ids.map((id) => unsigned(id, idSize)),
    offsetsOf(values, size),
    ...values,
  ]);
}

function textOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'utf8');
  if (bytes.length <= maxShortText) return Buffer.concat([Buffer.of(1 | (bytes.length << 2)), bytes]);
  return Buffer.concat([Buffer.of(16 << 2), unsigned(bytes.length, 4), bytes]);
}

function integerOf(value: bigint): Buffer {
  const width = [8, 16, 32, 64].findIndex((bits) => BigInt.asIntN(bits, value) === value);
  return width < 0 ? decimalOf(value, 0) : Buffer.concat([Buffer.of((3 + width) << 2), signed(value, 2 ** width)]);
}

/** The width is told by the number of digits, so that every value of the width has no more than its precision. */
function decimalOf(unscaled: bigint, scale: number): Buffer {
  const digits = Math.max(scale, (unscaled < 0n ? -unscaled : unscaled).toString().length);
  const width = digits <= 9 ? 0 : digits <= 18 ? 1 : 2;
  return Buffer.concat([Buffer.of((8 + width) << 2, scale), signed(unscaled, 4 * 2 ** width)]);
}

function lengthOf(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => sum + part.length, 0);
}

function offsetsOf(parts: readonly Uint8Array[], size: number): Buffer {
  const offsets = Buffer.alloc((parts.length + 1) * size);
  let at = 0;
  for (const [index, part] of parts.entries()) {
    at += part.length;
    offsets.writeUIntLE(at, (index + 1) * size, size);
  }
  return offsets;
}

function bytesFor(largest: number): number {
  return largest < 2 ** 8 ? 1 : largest < 2 ** 16 ? 2 : largest < 2 ** 24 ? 3 : 4;
}

function unsigned(value: number, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  bytes.writeUIntLE(value, 0, size);
  return bytes;
}

function signed(value: bigint, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  for (let index = 0, rest = value; index < size; index++, rest >>= 8n) bytes[index] = Number(rest & 0xffn);
  return bytes;
}
