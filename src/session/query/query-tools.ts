import type { Expression } from '../../expr/expression.ts';
import type { Field } from '../../schema/types.ts';
import type { AnalyzedQuery, QueryEnvironment } from './analyzed-query.ts';
import type { QueryExpressions } from './expressions.ts';
import type { QueryContext } from './query-context.ts';

/** A relation before it has a name. */
export interface RelationRows {
  readonly fields: readonly Field[];
  /** Behind `fields`, for names only. */
  readonly hidden?: readonly Field[] | undefined;
  readonly print: () => string;
  readonly prune: (condition: Expression) => void;
}

export interface FromTools {
  readonly context: QueryContext;
  readonly environment: QueryEnvironment;
  readonly expressions: QueryExpressions;
  readonly analyzeQuery: (environment: QueryEnvironment) => Promise<AnalyzedQuery>;
}
