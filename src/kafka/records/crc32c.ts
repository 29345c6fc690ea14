const reversedPolynomial = 0x82f63b78;
/** The eighth power of x, which a byte moves the register by. */
const eightSteps = 0x0080_0000;

/**
 * CRC-32C (Castagnoli) of `bytes[from, until)`, the checksum of Kafka record batches, as an unsigned 32-bit number.
 * Slicing-by-8: eight table look-ups per eight bytes.
 */
export function crc32c(bytes: Uint8Array, from = 0, until: number = bytes.length): number {
  let crc = -1;
  let at = from;
  const bulkUntil = until - ((until - from) & 7);
  while (at < bulkUntil) {
    // Reads stay inside the array, so that `?? 0` is never taken; it only satisfies the index check.
    const low = crc ^ ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24));
    crc =
      (tables[1792 + (low & 0xff)] ?? 0) ^
      (tables[1536 + ((low >>> 8) & 0xff)] ?? 0) ^
      (tables[1280 + ((low >>> 16) & 0xff)] ?? 0) ^
      (tables[1024 + (low >>> 24)] ?? 0) ^
      (tables[768 + (bytes[at + 4] ?? 0)] ?? 0) ^
      (tables[512 + (bytes[at + 5] ?? 0)] ?? 0) ^
      (tables[256 + (bytes[at + 6] ?? 0)] ?? 0) ^
      (tables[bytes[at + 7] ?? 0] ?? 0);
    at += 8;
  }
  while (at < until) {
    crc = (crc >>> 8) ^ (tables[(crc ^ (bytes[at] ?? 0)) & 0xff] ?? 0);
    at += 1;
  }
  return (crc ^ -1) >>> 0;
}

/**
 * The checksum of bytes of which the first were replaced by as many others, without a look at the rest: checksums of equal length differ by what
 * their beginnings differ by, moved on over `restBytes`.
 */
export function crc32cReplaced(crc: number, change: { readonly before: number; readonly now: number; readonly restBytes: number }): number {
  let moved = change.before ^ change.now;
  let power = eightSteps;
  for (let rest = change.restBytes; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) moved = product(moved, power);
    power = product(power, power);
  }
  return (crc ^ moved) >>> 0;
}

/** Of two polynomials, modulo that of the checksum; the highest bit is the lowest power. */
function product(left: number, right: number): number {
  let sum = 0;
  let shifted = right;
  for (let bit = 31; bit >= 0; bit -= 1) {
    if (((left >>> bit) & 1) === 1) sum ^= shifted;
    shifted = (shifted & 1) === 1 ? (shifted >>> 1) ^ reversedPolynomial : shifted >>> 1;
  }
  return sum;
}

/** Eight tables of 256 entries in one array; table k moves a byte k more places through the register. */
const tables: Int32Array = makeTables();

function makeTables(): Int32Array {
  const made = new Int32Array(2048);
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value & 1) === 1 ? (value >>> 1) ^ reversedPolynomial : value >>> 1;
    made[byte] = value;
  }
  for (let index = 256; index < 2048; index += 1) {
    const previous = made[index - 256] ?? 0;
    made[index] = (previous >>> 8) ^ (made[previous & 0xff] ?? 0);
  }
  return made;
}
