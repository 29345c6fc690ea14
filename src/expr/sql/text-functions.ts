/** Functions of text that the engine itself lacks or counts otherwise (`engine/text-functions`). NULL of NULL. */
export const textFunctions = {
  /** VARCHAR, VARCHAR: changes of characters between them. */
  levenshtein: 'tidewater_levenshtein',
  /** BLOB and bits: the digest in hexadecimal; NULL for other numbers of bits than SHA-2 has. */
  sha2: 'tidewater_sha2',
  soundex: 'tidewater_soundex',
  /** BLOB. */
  crc32: 'tidewater_crc32',
  /** VARCHAR and a charset: its bytes. */
  encode: 'tidewater_encode',
  /** BLOB and a charset: its text. */
  decode: 'tidewater_decode',
} as const;
