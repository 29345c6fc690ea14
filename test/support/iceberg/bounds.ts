/**
 * A lower bound of text or binary cut to `length` code points or bytes: what is cut sorts before what it was cut from.
 * https://iceberg.apache.org/spec/#column-metrics
 */
export function truncateLower<T extends string | Uint8Array>(value: T, length: number): T;
export function truncateLower(value: string | Uint8Array, length: number): string | Uint8Array {
  return typeof value === 'string' ? codePoints(value, length).join('') : value.subarray(0, length);
}

/**
 * An upper bound of text or binary cut to `length` code points or bytes, the last of them that can be raised by one: it sorts behind
 * everything that begins with what was cut. `undefined` when none can be raised: there is no such bound.
 */
export function truncateUpper(value: string, length: number): string | undefined;
export function truncateUpper(value: Uint8Array, length: number): Uint8Array | undefined;
export function truncateUpper(value: string | Uint8Array, length: number): string | Uint8Array | undefined {
  return typeof value === 'string' ? upperText(value, length) : upperBytes(value, length);
}

const highestCodePoint = 0x10ffff;
const firstSurrogate = 0xd800;
const behindSurrogates = 0xe000;

function upperText(text: string, length: number): string | undefined {
  const kept = codePoints(text, length);
  if (kept.join('').length === text.length) return text;
  for (let last = kept.length - 1; last >= 0; last--) {
    const point = kept[last]?.codePointAt(0) ?? highestCodePoint;
    if (point >= highestCodePoint) continue;
    // Surrogates are no characters.
    const raised = point + 1 >= firstSurrogate && point + 1 < behindSurrogates ? behindSurrogates : point + 1;
    return kept.slice(0, last).join('') + String.fromCodePoint(raised);
  }
  return undefined;
}

function upperBytes(bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (bytes.byteLength <= length) return bytes;
  for (let last = length - 1; last >= 0; last--) {
    const byte = bytes[last] ?? 0xff;
    if (byte === 0xff) continue;
    const raised = bytes.slice(0, last + 1);
    raised[last] = byte + 1;
    return raised;
  }
  return undefined;
}

function codePoints(text: string, length: number): readonly string[] {
  const points: string[] = [];
  for (const point of text) {
    if (points.length === length) break;
    points.push(point);
  }
  return points;
}
