import type { TextPosition } from '../base/analysis-exception.ts';
import type { DataType } from '../schema/types.ts';
import type { ZoneRule } from './time-zone.ts';

/**
 * A literal with its exact value. `integer` covers byte to long by `width`; decimals are unscaled; dates are days, timestamps
 * microseconds since 1970-01-01; an interval keeps calendar months apart from days and microseconds. `local`: written without a zone, which
 * binding to a statement's time gives it; until then the microseconds are those of the same time in UTC.
 */
export type Literal =
  | { readonly type: 'null' }
  | { readonly type: 'boolean'; readonly value: boolean }
  | { readonly type: 'integer'; readonly value: bigint; readonly width: 'byte' | 'short' | 'integer' | 'long' }
  | { readonly type: 'decimal'; readonly unscaled: bigint; readonly precision: number; readonly scale: number }
  | { readonly type: 'double'; readonly value: number }
  | { readonly type: 'float'; readonly value: number }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'binary'; readonly value: Uint8Array }
  | { readonly type: 'date'; readonly days: number }
  | { readonly type: 'timestamp'; readonly micros: bigint; readonly local?: boolean | undefined }
  | { readonly type: 'timestamp_ntz'; readonly micros: bigint }
  | { readonly type: 'interval'; readonly months: number; readonly days: number; readonly micros: bigint };

export const nullLiteral: Literal = { type: 'null' };

export type UnaryOperator = 'not' | '-' | '+' | '~';

export type BinaryOperator =
  | 'and'
  | 'or'
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  /** Null-safe equality. */
  | '<=>'
  | '+'
  | '-'
  | '*'
  | '/'
  | '%'
  | 'div'
  | '&'
  | '|'
  | '^'
  | '||';

/** Where local times take part: the zone they are of, set by binding to a statement's time. Default: UTC. */
interface OfZone {
  readonly zone?: ZoneRule;
}

/**
 * A scalar expression in Spark's dialect, as parsed from text or built by `col`, `lit`, `when`. Names are as the user wrote them until
 * `bindExpression` replaces them by the schema's own spelling. Plain data.
 */
export type Expression =
  /** `a`, `t.a`, `a.member`: the parts as written. After binding: the column's path in its own spelling, qualifier kept in `qualifier`. */
  | {
      readonly kind: 'column';
      readonly path: readonly string[];
      readonly qualifier?: string | undefined;
      /** Set by binding. */
      readonly type?: DataType | undefined;
      readonly at?: TextPosition | undefined;
    }
  | { readonly kind: 'literal'; readonly literal: Literal }
  | { readonly kind: 'unary'; readonly operator: UnaryOperator; readonly operand: Expression }
  | (OfZone & { readonly kind: 'binary'; readonly operator: BinaryOperator; readonly left: Expression; readonly right: Expression })
  | { readonly kind: 'is'; readonly operand: Expression; readonly test: 'null' | 'true' | 'false'; readonly negated: boolean }
  | (OfZone & { readonly kind: 'is-distinct'; readonly left: Expression; readonly right: Expression; readonly negated: boolean })
  | (OfZone & { readonly kind: 'in'; readonly operand: Expression; readonly options: readonly Expression[]; readonly negated: boolean })
  | (OfZone & {
      readonly kind: 'between';
      readonly operand: Expression;
      readonly low: Expression;
      readonly high: Expression;
      readonly negated: boolean;
    })
  | {
      readonly kind: 'like';
      readonly form: 'like' | 'ilike' | 'rlike';
      readonly operand: Expression;
      readonly pattern: Expression;
      readonly escape?: string | undefined;
      readonly negated: boolean;
    }
  | (OfZone & {
      readonly kind: 'case';
      /** `CASE operand WHEN value …`. */
      readonly operand?: Expression | undefined;
      readonly branches: readonly { readonly when: Expression; readonly then: Expression }[];
      readonly otherwise?: Expression | undefined;
    })
  /** `safe`: TRY_CAST. */
  | (OfZone & { readonly kind: 'cast'; readonly operand: Expression; readonly type: DataType; readonly safe: boolean })
  | (OfZone & {
      readonly kind: 'call';
      /** As written; functions are found without regard to case. */
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly distinct?: boolean | undefined;
      /** `count(*)`. */
      readonly star?: boolean | undefined;
      readonly filter?: Expression | undefined;
      /** `first(x) IGNORE NULLS`. */
      readonly ignoreNulls?: boolean | undefined;
      readonly over?: Window | undefined;
      readonly at?: TextPosition | undefined;
    })
  /** Member of a struct that is not a plain column path, such as `f(x).member`. */
  | { readonly kind: 'member'; readonly operand: Expression; readonly name: string }
  /** `list[0]`, `map['key']`. */
  | { readonly kind: 'element'; readonly operand: Expression; readonly index: Expression }
  | { readonly kind: 'lambda'; readonly parameters: readonly string[]; readonly body: Expression }
  /** `:name`, or `?` by its 0-based place. */
  | { readonly kind: 'parameter'; readonly name: string | number; readonly at: TextPosition }
  /** Only at the top of a select list or an aggregation. */
  | {
      readonly kind: 'alias';
      readonly operand: Expression;
      readonly name: string;
      /** Names of the second and later columns that a generator makes: `posexplode(list) AS (place, value)`. */
      readonly otherNames?: readonly string[] | undefined;
    }
  /** `*` or `t.*`, only in a select list. */
  | { readonly kind: 'star'; readonly qualifier?: string | undefined };

export interface Window {
  readonly partitionBy: readonly Expression[];
  readonly orderBy: readonly SortKey[];
  /** Default: from the first row of the partition to the current one and its equals when there is an order, else all rows. */
  readonly frame?: WindowFrame | undefined;
}

export interface WindowFrame {
  readonly unit: 'rows' | 'range';
  readonly from: FrameBound;
  readonly until: FrameBound;
}

/** `preceding` and `following` without rows are unbounded. */
export type FrameBound =
  | { readonly kind: 'current-row' }
  | { readonly kind: 'preceding' | 'following'; readonly rows?: number | undefined };

export const nullExpression: Expression = { kind: 'literal', literal: nullLiteral };

export interface SortKey {
  readonly expression: Expression;
  readonly descending: boolean;
  /** Default: nulls first when ascending, last when descending, as Spark sorts. */
  readonly nullsFirst?: boolean | undefined;
}

export const trueLiteral: Expression = { kind: 'literal', literal: { type: 'boolean', value: true } };

/** Joins conditions with `and`; `undefined` when there are none. */
export function conjunction(conditions: readonly Expression[]): Expression | undefined {
  return conditions.reduce<Expression | undefined>(
    (all, condition) => (all === undefined ? condition : { kind: 'binary', operator: 'and', left: all, right: condition }),
    undefined,
  );
}

/** The conditions that must all hold: `a and (b and c)` gives a, b, c. */
export function conjuncts(condition: Expression): readonly Expression[] {
  if (condition.kind !== 'binary' || condition.operator !== 'and') return [condition];
  return [...conjuncts(condition.left), ...conjuncts(condition.right)];
}
