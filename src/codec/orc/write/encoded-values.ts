import type { EncodingKind } from '../proto/numbers.ts';
import type { EncodedStream } from './encoded-stream.ts';
import type { ValueStatistics } from './statistics.ts';

/** What a type makes of the values that are there. */
export interface EncodedValues {
  readonly encoding: EncodingKind;
  readonly dictionarySize?: number | undefined;
  readonly streams: readonly EncodedStream[];
  /** Of the stored values `[from, until)`; absent for nested columns. */
  readonly statistics?: ((from: number, until: number) => ValueStatistics) | undefined;
}
