import { UUID_BYTES, UUID_CHARACTERS, writeUuidText } from '../../uuid-text.ts';

export interface BytesParts {
  readonly offsets: Int32Array;
  readonly data: Uint8Array;
}

const hyphenBefore: ReadonlySet<number> = new Set([4, 6, 8, 10]);
const hyphen = 0x2d;

/** Canonical texts of UUIDs of 16 bytes each; empty values stay empty. */
export function formatUuids({ offsets, data }: BytesParts): BytesParts {
  const length = offsets.length - 1;
  const texts = new Uint8Array((((offsets[length] ?? 0) - (offsets[0] ?? 0)) / UUID_BYTES) * UUID_CHARACTERS);
  const textOffsets = new Int32Array(length + 1);
  let end = 0;
  for (let index = 0; index < length; index++) {
    const from = offsets[index] ?? 0;
    if (offsets[index + 1] !== from) {
      writeUuidText(data, from, texts, end);
      end += UUID_CHARACTERS;
    }
    textOffsets[index + 1] = end;
  }
  return { offsets: textOffsets, data: texts };
}

/** The 16 bytes of a UUID's text at `[from, until)`, to `target` at `at`; `false` when the text is none. */
export function parseUuid(
  text: Uint8Array,
  range: { readonly from: number; readonly until: number },
  target: Uint8Array,
  at: number,
): boolean {
  if (range.until - range.from !== UUID_CHARACTERS) return false;
  let position = range.from;
  for (let byte = 0; byte < UUID_BYTES; byte++) {
    if (hyphenBefore.has(byte)) {
      if (text[position] !== hyphen) return false;
      position += 1;
    }
    const upper = hexValue(text[position] ?? 0);
    const lower = hexValue(text[position + 1] ?? 0);
    if (upper < 0 || lower < 0) return false;
    target[at + byte] = (upper << 4) | lower;
    position += 2;
  }
  return true;
}

function hexValue(character: number): number {
  if (character >= 0x30 && character <= 0x39) return character - 0x30;
  const letter = character | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
