/** Functions of text that the engine itself lacks or counts otherwise (`engine/text-functions`). NULL of NULL. */
export const textFunctions = {
  /** VARCHAR, VARCHAR: changes of characters between them. */
  levenshtein: 'tidewater_levenshtein',
  /** BLOB and bits: the digest in hexadecimal; NULL for other numbers of bits than SHA-2 has. */
  sha2: 'tidewater_sha2',
  soundex: 'tidewater_soundex',
  lower: 'tidewater_lower',
  upper: 'tidewater_upper',
  initcap: 'tidewater_initcap',
  reverse: 'tidewater_reverse',
  /** BLOB. */
  crc32: 'tidewater_crc32',
  /** VARCHAR and a charset: its bytes. */
  encode: 'tidewater_encode',
  /** BLOB and a charset: its text. */
  decode: 'tidewater_decode',
  /** BLOB as UTF-8, what is none in it replaced. */
  lenient: 'tidewater_lenient_text',
  /** VARCHAR of leaves: Spark's hash of 32 bits, and of 64 (`expr/functions/hash-functions`). */
  murmur3: 'tidewater_spark_murmur3',
  xxhash64: 'tidewater_spark_xxhash64',
  /** VARCHAR and two bases. */
  conv: 'tidewater_conv',
  /** VARCHARs of two decimals, and the operator with the scale of its result. */
  decimalMath: 'tidewater_decimal_math',
  /** VARCHAR of a number, and the digits behind its point. */
  formatNumber: 'tidewater_format_number',
  /** VARCHAR, and arguments as one text (`expr/functions/code-functions`). */
  formatText: 'tidewater_format_text',
  /** 1 where the check sum is right, else 0. */
  luhn: 'tidewater_luhn',
  /** VARCHAR, and a character for each kind. */
  mask: 'tidewater_mask',
  urlEncode: 'tidewater_url_encode',
  /** NULL for text that is no code. */
  urlDecode: 'tidewater_url_decode',
  urlPart: 'tidewater_url_part',
  urlValue: 'tidewater_url_value',
} as const;

/** Functions of the engine, beside its own, of a seed and the place of a row, both BIGINT: the number that Spark has there, a DOUBLE. */
export const seededFunctions = { uniform: 'tidewater_spark_rand', normal: 'tidewater_spark_randn' } as const;

/** Functions of the engine, beside its own, that give the 32-bit Murmur3 of a value as INTEGER; NULL for NULL. */
export const partitionHashes = {
  /** BIGINT, as eight bytes. */
  long: 'tidewater_murmur3_long',
  /** VARCHAR, its UTF-8 bytes. */
  text: 'tidewater_murmur3_text',
  /** BLOB. */
  bytes: 'tidewater_murmur3_bytes',
  /** VARCHAR of an unscaled decimal, as the fewest bytes of its two's complement, the highest first. */
  decimal: 'tidewater_murmur3_decimal',
} as const;
