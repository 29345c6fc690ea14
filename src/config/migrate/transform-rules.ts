import type { RecordDraft } from './record-draft.ts';

/** A transform of a connector. */
export interface Transform {
  readonly alias: string;
  /** Its class, without the part that says key or value. */
  readonly name: string;
  /** One of its options. */
  readonly take: (option: string) => string | undefined;
  readonly predicate?: string | undefined;
  readonly isNegated?: boolean | undefined;
}

/** What a transform became, or why it is left to a person. Rows would be others without it, unless `doubt` is false. */
export type TransformRule = (
  transform: Transform,
  draft: RecordDraft,
) => { readonly became?: string | undefined; readonly left?: string | undefined; readonly doubt?: boolean | undefined };

/** By the class of the transform. */
export type TransformRules = Readonly<Record<string, TransformRule>>;
