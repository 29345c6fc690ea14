/** One record as byte positions; `kafka/records/record-cursor.ts` is one. Read during the call only, never kept. */
export interface SourceRecord {
  /** What the positions point into. */
  readonly data: Uint8Array;
  /** `[keyStart, keyEnd)`; -1 for a null key. */
  readonly keyStart: number;
  readonly keyEnd: number;
  /** `[valueStart, valueEnd)`; -1 for a null value. */
  readonly valueStart: number;
  readonly valueEnd: number;
  /** Milliseconds since 1970; -1 when the record has none. */
  readonly timestampMs: number;
  offset(): bigint;
  headers(): readonly (readonly [name: string, value: Uint8Array])[];
}
