import type { RecordSettings } from '../../protocol/change-event.ts';

/** How values of some types are told. */
export interface ValueForms {
  readonly decimals: NonNullable<RecordSettings['decimals']>;
  readonly times: NonNullable<RecordSettings['times']>;
  readonly binary: RecordSettings['binary'];
  /** `text`: JSON in a string; `json`: as a part of the record's own JSON. */
  readonly variants: 'json' | 'text';
  /** Of which maps the keys are names: those with keys of any scalar type, those with text. The others are lists of entries. */
  readonly textMaps: 'of-scalars' | 'of-text' | 'none';
}
