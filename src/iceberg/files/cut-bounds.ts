/**
 * Bounds of so many code points or bytes (https://iceberg.apache.org/spec/#manifests: bounds may be cut). A lower bound is the beginning of
 * the value, which is not above it.
 */
export function cutLowerBound(value: string | Uint8Array, length: number): string | Uint8Array {
  return typeof value === 'string' ? firstCodePoints(value, length) : value.subarray(0, length);
}

/** The least value of the length that is not below any that begins as the value does; `undefined`: there is none. */
export function cutUpperBound(value: string | Uint8Array, length: number): string | Uint8Array | undefined {
  if (typeof value !== 'string') return value.length <= length ? value : incrementedBytes(value.subarray(0, length));
  const cut = firstCodePoints(value, length);
  return cut.length === value.length ? value : incrementedText(cut);
}

function firstCodePoints(text: string, count: number): string {
  if (text.length <= count) return text;
  let end = 0;
  for (let points = 0; points < count && end < text.length; points++) end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  return text.slice(0, end);
}

const lastCodePoint = 0x10ffff;
const firstSurrogate = 0xd800;
const afterSurrogates = 0xe000;

function incrementedText(text: string): string | undefined {
  const points = Array.from(text, (character) => character.codePointAt(0) ?? 0);
  for (let at = points.length - 1; at >= 0; at--) {
    const point = points[at] ?? lastCodePoint;
    if (point === lastCodePoint) continue;
    const next = point + 1 === firstSurrogate ? afterSurrogates : point + 1;
    return String.fromCodePoint(...points.slice(0, at), next);
  }
  return undefined;
}

function incrementedBytes(bytes: Uint8Array): Uint8Array | undefined {
  for (let at = bytes.length - 1; at >= 0; at--) {
    const byte = bytes[at] ?? 0xff;
    if (byte < 0xff) return Uint8Array.of(...bytes.subarray(0, at), byte + 1);
  }
  return undefined;
}
