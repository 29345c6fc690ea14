import { failedCall } from './column-function.ts';

/** The charsets that `encode` and `decode` take. */
const charsets = ['US-ASCII', 'ISO-8859-1', 'UTF-8', 'UTF-16BE', 'UTF-16LE', 'UTF-16', 'UTF-32'];

const byteOrderMark = [0xfe, 0xff];

/** @throws Error `INVALID_PARAMETER_VALUE.CHARSET`; `MALFORMED_CHARACTER_CODING` for a character that the charset lacks. */
export function bytesOfText(text: string, charset: string): Uint8Array {
  switch (known('encode', charset)) {
    case 'UTF-16':
      return text === '' ? new Uint8Array() : Uint8Array.from([...byteOrderMark, ...bigEndian(text)]);
    case 'UTF-16BE':
      return bigEndian(text);
    case 'UTF-16LE':
      return Buffer.from(text, 'utf16le');
    case 'UTF-32':
      return Uint8Array.from(codePoints(text).flatMap(fourBytes));
    case 'US-ASCII':
      return singleBytes(text, { charset, limit: 0x80 });
    case 'ISO-8859-1':
      return singleBytes(text, { charset, limit: 0x100 });
    default:
      return Buffer.from(text, 'utf8');
  }
}

/** @throws Error as `bytesOfText`, for bytes that are no text of the charset. */
export function textOfBytes(bytes: Uint8Array, charset: string): string {
  switch (known('decode', charset)) {
    case 'UTF-16':
      return utf16(bytes);
    case 'UTF-16BE':
      return decoded('utf-16be', bytes);
    case 'UTF-16LE':
      return decoded('utf-16le', bytes);
    case 'UTF-32':
      return utf32(bytes);
    case 'US-ASCII':
      if (bytes.some((byte) => byte >= 0x80)) throw malformed('decode', charset);
      return Buffer.from(bytes).toString('latin1');
    case 'ISO-8859-1':
      return Buffer.from(bytes).toString('latin1');
    default:
      return decoded('utf-8', bytes);
  }
}

function known(name: string, charset: string): string {
  const upper = charset.toUpperCase();
  if (charsets.includes(upper)) return upper;
  throw unknownCharset(name, charset);
}

function codePoints(text: string): number[] {
  return Array.from(text, (character) => character.codePointAt(0) ?? 0);
}

function unknownCharset(name: string, charset: string): Error {
  return failedCall(
    `[INVALID_PARAMETER_VALUE.CHARSET] The value of parameter(s) \`charset\` in \`${name}\` is invalid: expects one of ${charsets.join(', ')}, but got ${charset}.`,
  );
}

function malformed(name: string, charset: string): Error {
  return failedCall(`[MALFORMED_CHARACTER_CODING] Invalid value found when performing \`${name}\` with ${charset}`);
}

function bigEndian(text: string): Uint8Array {
  return Buffer.from(text, 'utf16le').swap16();
}

function fourBytes(value: number): readonly number[] {
  return [value >>> 24, (value >>> 16) & 0xff, (value >>> 8) & 0xff, value & 0xff];
}

function singleBytes(text: string, { charset, limit }: { readonly charset: string; readonly limit: number }): Uint8Array {
  const codes = codePoints(text);
  if (codes.some((code) => code >= limit)) throw malformed('encode', charset);
  return Uint8Array.from(codes);
}

/** Big endian unless a mark says otherwise. */
function utf16(bytes: Uint8Array): string {
  if (bytes[0] === byteOrderMark[1] && bytes[1] === byteOrderMark[0]) return decoded('utf-16le', bytes.subarray(2));
  return decoded('utf-16be', bytes[0] === byteOrderMark[0] && bytes[1] === byteOrderMark[1] ? bytes.subarray(2) : bytes);
}

function utf32(bytes: Uint8Array): string {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length % 4 !== 0) throw malformed('decode', 'UTF-32');
  return Array.from({ length: bytes.length / 4 }, (_, index) => String.fromCodePoint(view.getUint32(4 * index))).join('');
}

function decoded(label: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder(label, { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw malformed('decode', label);
  }
}
