import type { Expression } from '../../expr/expression.ts';
import type { Field } from '../../schema/types.ts';
import type { AnalyzedQuery, QueryEnvironment } from './analyzed-query.ts';
import type { QueryExpressions } from './expressions.ts';
import type { QueryContext, UsedSource } from './query-context.ts';

/** A relation before it has a name. */
export interface RelationRows {
  readonly fields: readonly Field[];
  /** Behind `fields`, for names only. */
  readonly hidden?: readonly Field[] | undefined;
  readonly print: () => string;
  readonly prune: (condition: Expression) => void;
  /** Of a table: what its metadata may tell instead of its rows. */
  readonly metadata?: Pick<UsedSource, 'ask' | 'told'> | undefined;
}

export interface FromTools {
  readonly context: QueryContext;
  readonly environment: QueryEnvironment;
  readonly expressions: QueryExpressions;
  readonly analyzeQuery: (environment: QueryEnvironment) => Promise<AnalyzedQuery>;
}
