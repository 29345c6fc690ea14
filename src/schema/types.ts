/**
 * Column types shared by both table formats. Names are Delta's; the Iceberg equivalents are `int`, `timestamptz` (timestamp), `timestamp`
 * (timestamp_ntz), `timestamptz_ns` (timestamp_ns) and `timestamp_ns` (timestamp_ntz_ns). Delta has no `time` and no nanoseconds.
 */
export type PrimitiveType =
  | { readonly kind: 'boolean' }
  /** Signed 8, 16, 32 and 64 bit integers. */
  | { readonly kind: 'byte' }
  | { readonly kind: 'short' }
  | { readonly kind: 'integer' }
  | { readonly kind: 'long' }
  | { readonly kind: 'float' }
  | { readonly kind: 'double' }
  /** Precision 1 to 38, scale 0 to precision. */
  | { readonly kind: 'decimal'; readonly precision: number; readonly scale: number }
  /**
   * With `format` `uuid`: canonical lower-case text of a UUID; formats that have the type store it as 16 bytes. With `length`: as a column is
   * declared; tables keep it in the field's metadata (`declared-length.ts`).
   */
  | { readonly kind: 'string'; readonly format?: 'uuid' | undefined; readonly length?: TextLength | undefined }
  /** With `fixedLength`: every value has so many bytes. */
  | { readonly kind: 'binary'; readonly fixedLength?: number | undefined }
  /** Days since 1970-01-01. */
  | { readonly kind: 'date' }
  /** Microseconds since 1970-01-01T00:00:00Z, an instant. */
  | { readonly kind: 'timestamp' }
  /** Microseconds of a local date and time without zone. */
  | { readonly kind: 'timestamp_ntz' }
  /** Microseconds since midnight, without zone. */
  | { readonly kind: 'time' }
  /** Nanoseconds since 1970-01-01T00:00:00Z, an instant. */
  | { readonly kind: 'timestamp_ns' }
  /** Nanoseconds of a local date and time without zone. */
  | { readonly kind: 'timestamp_ntz_ns' }
  /**
   * A value that brings its own type, in columns two byte strings: a dictionary of names and what refers to it (`codec/variant`). It has no
   * order and no equality.
   */
  | { readonly kind: 'variant' }
  /** Every value is null; data files do not hold the column. */
  | { readonly kind: 'void' };

/** Of VARCHAR(n) and CHAR(n). */
export interface TextLength {
  readonly kind: 'varchar' | 'char';
  readonly characters: number;
}

export interface StructType {
  readonly kind: 'struct';
  readonly fields: readonly Field[];
}

export interface ListType {
  readonly kind: 'list';
  readonly element: DataType;
  readonly elementNullable: boolean;
  readonly elementId?: number | undefined;
}

export interface MapType {
  readonly kind: 'map';
  readonly key: DataType;
  readonly value: DataType;
  readonly valueNullable: boolean;
  readonly keyId?: number | undefined;
  readonly valueId?: number | undefined;
}

export type DataType = PrimitiveType | StructType | ListType | MapType;

export interface Field {
  readonly name: string;
  readonly type: DataType;
  readonly nullable: boolean;
  /** Iceberg field id, or Delta column-mapping id; written to Parquet as `field_id` when present. */
  readonly id?: number | undefined;
  /** Format-specific field metadata, kept verbatim (JSON text by key). */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
}
