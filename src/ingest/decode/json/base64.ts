export interface ByteRange {
  readonly bytes: Uint8Array;
  readonly start: number;
  readonly end: number;
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const sextets = Int8Array.from({ length: 256 }, (_, byte) => alphabet.indexOf(String.fromCharCode(byte)));
const padding = 0x3d;

/**
 * Decodes canonical base64 (RFC 4648 section 4: padded, unused bits zero) to `out[at...]`, which has room; the index after the last
 * byte, or -1 when the text is anything else.
 */
export function decodeBase64(text: ByteRange, out: Uint8Array, at: number): number {
  const { bytes, start, end } = text;
  if ((end - start) % 4 !== 0) return -1;
  let target = at;
  for (let pos = start; pos < end; pos += 4) {
    const last = pos + 4 === end;
    const padded = last && bytes[pos + 3] === padding ? (bytes[pos + 2] === padding ? 2 : 1) : 0;
    const a = sextet(bytes, pos);
    const b = sextet(bytes, pos + 1);
    const c = padded === 2 ? 0 : sextet(bytes, pos + 2);
    const d = padded > 0 ? 0 : sextet(bytes, pos + 3);
    if ((a | b | c | d) < 0) return -1;
    const group = (a << 18) | (b << 12) | (c << 6) | d;
    const unused = padded === 2 ? 0xffff : padded === 1 ? 0xff : 0;
    if ((group & unused) !== 0) return -1;
    out[target] = group >> 16;
    if (padded < 2) out[target + 1] = (group >> 8) & 0xff;
    if (padded < 1) out[target + 2] = group & 0xff;
    target += 3 - padded;
  }
  return target;
}

function sextet(bytes: Uint8Array, at: number): number {
  return sextets[bytes[at] ?? 0] ?? -1;
}
