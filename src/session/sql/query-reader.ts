import type { Expression } from '../../expr/expression.ts';
import type { ExpressionParser } from '../../expr/parse/parse-expression.ts';
import type { TokenStream } from '../../expr/parse/token-stream.ts';
import type { Plan } from '../plan/plan.ts';

/** What the parsers of a query's parts need of its parser. */
export interface QueryReader {
  readonly stream: TokenStream;
  readonly expressions: ExpressionParser;
  /** The query a name in the tokens stands for. */
  nested(key: string): Plan;
  readValueRows(): readonly (readonly Expression[])[];
}
