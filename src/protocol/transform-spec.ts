import type { StructType } from '../schema/types.ts';

/** What becomes of a record whose row does not meet an expectation: a dead letter, the table stands still at it, or it is counted. */
export type ExpectationAction = 'reject' | 'suspend' | 'count';

/** An expression of a transform, compiled: SQL of the engine. */
export interface TransformExpression {
  /** How users find it: `where "a > 1"`, `select "upper(name) AS name"`, `expectation "positive" "amount > 0"`. */
  readonly place: string;
  readonly sql: string;
  /** Columns of the record that it is computed from, by number. */
  readonly reads: readonly number[];
}

/** What fills a column of the table. */
export type TransformOutput =
  | { readonly kind: 'record'; readonly column: number }
  | { readonly kind: 'computed'; readonly expression: TransformExpression }
  /** Of the rows that a generator makes: `sql` over its columns `g0`, `g1`. */
  | { readonly kind: 'generated'; readonly sql: string }
  | { readonly kind: 'absent' };

/** Makes several rows of a record. */
export interface TransformGenerator {
  /** The list or map whose elements become rows. */
  readonly argument: TransformExpression;
  /** SQL of how many elements there are, over the argument's value `ga`. */
  readonly count: string;
  /** SQL of the columns it makes, over the argument's value `ga`; a record without elements gives one row of nulls. */
  readonly values: readonly string[];
  /** A record without elements stays a row. */
  readonly outer: boolean;
}

export interface Expectation {
  readonly name: string;
  readonly onFailure: ExpectationAction;
  /** Over the table's columns `o0`, `o1`, …; true unless the condition is false. */
  readonly expression: TransformExpression;
  /** Columns of the table that it is about, by number. */
  readonly about: readonly number[];
}

/**
 * What is made of records before they are rows: plain data, sent to worker threads. Expressions are SQL of the engine over the record's columns
 * `r0`, `r1`, …
 */
export interface TransformSpec {
  /** The columns that records are decoded to; `DecodeSpec.sources[i]` feeds `record.fields[i]`. */
  readonly record: StructType;
  readonly where: TransformExpression | undefined;
  /** One for each column of the table. */
  readonly outputs: readonly TransformOutput[];
  readonly generator: TransformGenerator | undefined;
  readonly expectations: readonly Expectation[];
}
