/** Bits `[from, until)` of a bitmap (least significant bit first), moved to start at bit 0. */
export function sliceBits(source: Uint8Array, from: number, until: number): Uint8Array {
  const byteCount = (until - from + 7) >> 3;
  const first = from >> 3;
  const shift = from & 7;
  if (shift === 0) return source.subarray(first, first + byteCount);
  const target = new Uint8Array(byteCount);
  for (let index = 0; index < byteCount; index++) {
    target[index] = ((source[first + index] ?? 0) >> shift) | ((source[first + index + 1] ?? 0) << (8 - shift));
  }
  return target;
}

/** Writes bits `[0, count)` of `source` (all ones when it is `undefined`) to `target` from bit `at`, where `target` is zero. */
export function appendBits(source: Uint8Array | undefined, count: number, target: Uint8Array, at: number): void {
  const shift = at & 7;
  const byteCount = (count + 7) >> 3;
  for (let index = 0; index < byteCount; index++) {
    const bitsLeft = count - index * 8;
    const mask = bitsLeft >= 8 ? 0xff : (1 << bitsLeft) - 1;
    const bits = (source === undefined ? 0xff : (source[index] ?? 0)) & mask;
    const position = (at >> 3) + index;
    target[position] = (target[position] ?? 0) | (bits << shift);
    if (shift !== 0 && bits >> (8 - shift) !== 0) target[position + 1] = (target[position + 1] ?? 0) | (bits >> (8 - shift));
  }
}

/** Ones among the first `length` bits. */
export function countOnes(bits: Uint8Array, length: number): number {
  let count = 0;
  const fullBytes = length >> 3;
  for (let index = 0; index < fullBytes; index++) count += onesInByte[bits[index] ?? 0] ?? 0;
  const rest = length & 7;
  return rest === 0 ? count : count + (onesInByte[(bits[fullBytes] ?? 0) & ((1 << rest) - 1)] ?? 0);
}

const onesInByte: Uint8Array = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll('0', '').length);

// Below this many bytes a loop beats the call into the engine that `set` needs.
const loopBytes = 24;

/** Copies `source[from, until)` to `target` from `at`. */
export function copyBytes(source: Uint8Array, from: number, until: number, target: Uint8Array, at: number): void {
  if (until - from > loopBytes) target.set(source.subarray(from, until), at);
  else for (let index = from; index < until; index++) target[at + index - from] = source[index] ?? 0;
}

/** Bits set in both of the first `length` bits; `undefined` stands for all ones. */
export function andBits(left: Uint8Array | undefined, right: Uint8Array | undefined, length: number): Uint8Array | undefined {
  if (left === undefined || right === undefined) return left ?? right;
  const target = new Uint8Array((length + 7) >> 3);
  for (let index = 0; index < target.length; index++) target[index] = (left[index] ?? 0) & (right[index] ?? 0);
  return target;
}

export function bitAt(bits: Uint8Array, index: number): boolean {
  return ((bits[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
}

/** Without a bitmap all values are there. */
export function isValidAt(validity: Uint8Array | undefined, row: number): boolean {
  return validity === undefined || bitAt(validity, row);
}
