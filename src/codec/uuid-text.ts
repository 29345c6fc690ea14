const hexDigits: Uint8Array = Buffer.from('0123456789abcdef');
const dashesBefore: ReadonlySet<number> = new Set([4, 6, 8, 10]);
export const UUID_BYTES = 16;
export const UUID_CHARACTERS = 36;

/** The canonical text of a UUID, as ASCII, from its bytes. */
export function uuidText(bytes: Uint8Array): Uint8Array {
  const text = new Uint8Array(UUID_CHARACTERS);
  writeUuidText(bytes, 0, text, 0);
  return text;
}

/** As `uuidText`, from `bytes` at `from` into `text` at `at`. */
export function writeUuidText(bytes: Uint8Array, from: number, text: Uint8Array, at: number): void {
  let end = at;
  for (let index = 0; index < UUID_BYTES; index++) {
    if (dashesBefore.has(index)) text[end++] = 0x2d;
    const byte = bytes[from + index] ?? 0;
    text[end++] = hexDigits[byte >> 4] ?? 0;
    text[end++] = hexDigits[byte & 0xf] ?? 0;
  }
}

const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The bytes of a UUID from its text; `undefined` for other text. */
export function uuidBytes(text: string): Uint8Array | undefined {
  return uuidPattern.test(text) ? Buffer.from(text.replaceAll('-', ''), 'hex') : undefined;
}
