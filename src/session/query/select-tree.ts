import type { TextPosition } from '../../base/analysis-exception.ts';
import type { Expression, SortKey } from '../../expr/expression.ts';

/** A query as written: names are not looked up, expressions not bound. Queries inside of expressions stand apart, see `subqueryColumn`. */
export interface QueryTree {
  readonly withs: readonly { readonly name: string; readonly columns: readonly string[] | undefined; readonly query: QueryTree }[];
  readonly body: QueryBody;
  readonly orderBy: readonly SortKey[];
  readonly limit?: Expression | undefined;
  readonly offset?: Expression | undefined;
  /** Queries in expressions of this one, by their number in the text. */
  readonly subqueries: ReadonlyMap<string, QueryTree>;
}

export type QueryBody =
  | { readonly kind: 'select'; readonly select: Select }
  | {
      readonly kind: 'set';
      readonly operation: 'union' | 'intersect' | 'except';
      readonly all: boolean;
      readonly left: QueryBody;
      readonly right: QueryBody;
    }
  | { readonly kind: 'values'; readonly rows: readonly (readonly Expression[])[] }
  | { readonly kind: 'nested'; readonly query: QueryTree };

export interface Select {
  readonly distinct: boolean;
  readonly items: readonly SelectItem[];
  readonly from: FromItem | undefined;
  readonly where?: Expression | undefined;
  readonly groupBy?: GroupBy | undefined;
  readonly having?: Expression | undefined;
  readonly qualify?: Expression | undefined;
}

export type SelectItem =
  | {
      readonly kind: 'star';
      readonly qualifier: readonly string[] | undefined;
      readonly except: readonly string[];
      readonly at: TextPosition;
    }
  | { readonly kind: 'value'; readonly value: Expression; readonly names: readonly string[]; readonly at: TextPosition };

export type GroupBy =
  | { readonly kind: 'all' }
  /** Each element is one or several sets of keys; plain keys are a set of their own. */
  | { readonly kind: 'keys'; readonly elements: readonly GroupElement[] };

export interface GroupElement {
  readonly kind: 'key' | 'rollup' | 'cube' | 'grouping-sets';
  readonly sets: readonly (readonly Expression[])[];
}

export type JoinForm = 'inner' | 'left' | 'right' | 'full' | 'semi' | 'anti' | 'cross';

/** A name given to a relation and, where stated, to its columns. */
export interface RelationAlias {
  readonly name: string;
  readonly columns: readonly string[] | undefined;
}

/** When of a table: the expression of a time is evaluated before the query. */
export type TravelClause =
  | { readonly kind: 'version'; readonly value: Expression }
  | { readonly kind: 'timestamp'; readonly value: Expression; readonly text: string };

export type FromItem =
  | {
      readonly kind: 'table';
      readonly parts: readonly string[];
      readonly travel?: TravelClause | undefined;
      readonly alias?: RelationAlias | undefined;
      readonly at: TextPosition;
    }
  | { readonly kind: 'query'; readonly query: QueryTree; readonly lateral: boolean; readonly alias?: RelationAlias | undefined }
  | {
      readonly kind: 'function';
      readonly name: string;
      readonly arguments: readonly Expression[];
      readonly alias?: RelationAlias | undefined;
      readonly at: TextPosition;
    }
  | {
      readonly kind: 'join';
      readonly form: JoinForm;
      readonly natural: boolean;
      readonly using?: readonly string[] | undefined;
      readonly on?: Expression | undefined;
      readonly left: FromItem;
      readonly right: FromItem;
    }
  /** LATERAL VIEW: a function that makes rows of each row of the input. */
  | {
      readonly kind: 'generator';
      readonly input: FromItem;
      readonly call: Expression;
      readonly outer: boolean;
      readonly name: string;
      readonly columns: readonly string[];
    };

/** Qualifier of the columns that stand for queries in expressions; no name a user writes has a blank at its end. */
export const subqueryQualifier = 'subquery ';

/** How a query is used in an expression. */
export type SubqueryForm = 'scalar' | 'exists' | 'in';

/** The form and the number of a query from the name its place in an expression has; `undefined` for names of users. */
export function subqueryOf(name: string): { readonly form: SubqueryForm; readonly key: string } | undefined {
  const match = /^(scalar|exists|in) subquery (\d+) $/u.exec(name);
  const form = match?.[1];
  const key = match?.[2];
  return (form === 'scalar' || form === 'exists' || form === 'in') && key !== undefined ? { form, key } : undefined;
}

export function subqueryName(form: SubqueryForm, key: string): string {
  return `${form} subquery ${key} `;
}
