/** Kinds of type (orc_proto.proto: Type.Kind), by their numbers. */
export const typeKinds = [
  'boolean',
  'tinyint',
  'smallint',
  'int',
  'bigint',
  'float',
  'double',
  'string',
  'binary',
  'timestamp',
  'list',
  'map',
  'struct',
  'union',
  'decimal',
  'date',
  'varchar',
  'char',
  'timestamp with local time zone',
] as const;

export type OrcKind = (typeof typeKinds)[number];

/** Kinds of stream (Stream.Kind). */
export const streamKind = { present: 0, data: 1, length: 2, dictionaryData: 3, secondary: 5, rowIndex: 6 } as const;

export type StreamKind = (typeof streamKind)[keyof typeof streamKind];

/** Kinds of column encoding (ColumnEncoding.Kind). */
export const encodingKind = { direct: 0, dictionary: 1, directV2: 2, dictionaryV2: 3 } as const;

export type EncodingKind = (typeof encodingKind)[keyof typeof encodingKind];
