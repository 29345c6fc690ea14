/** The shortest big-endian two's complement of an integer: how unscaled decimals are stored and hashed. */
export function unscaledBytes(value: bigint): Uint8Array {
  const magnitude = value < 0n ? -value - 1n : value;
  // One bit more than the magnitude has, for the sign.
  const length = (bitLength(magnitude) >> 3) + 1;
  const bytes = new Uint8Array(length);
  let rest = value;
  for (let index = length - 1; index >= 0; index--) {
    bytes[index] = Number(BigInt.asUintN(8, rest));
    rest >>= 8n;
  }
  return bytes;
}

/** Inverse of `unscaledBytes`, of any length; 0 for no bytes. */
export function unscaledOf(bytes: Uint8Array): bigint {
  let value = 0n;
  for (const byte of bytes) value = (value << 8n) | BigInt(byte);
  return BigInt.asIntN(bytes.length * 8, value);
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}
