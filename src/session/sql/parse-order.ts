import type { SortKey } from '../../expr/expression.ts';
import { readSortKey } from '../../expr/parse/parse-call.ts';
import { syntaxError } from '../../expr/parse/syntax-error.ts';
import type { QueryReader } from './query-reader.ts';

/**
 * `ORDER BY`, or `CLUSTER BY`, `DISTRIBUTE BY` and `SORT BY`, which order the rows of each partition: as if every value that rows are
 * distributed by had a partition of its own, one behind the other.
 *
 * @throws ParseException `UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES` for an order that is said twice.
 */
export function readOrder(reader: QueryReader): readonly SortKey[] {
  const { stream, expressions } = reader;
  const keysOf = (word: string): readonly SortKey[] => {
    if (!stream.takeWords(word, 'BY')) return [];
    if (word === 'ORDER' || word === 'SORT') return stream.list(() => readSortKey(expressions));
    return stream.list(() => ({ expression: expressions.readExpression(), descending: false }));
  };
  const start = stream.peek();
  const [order = [], cluster = [], distribute = [], sort = []] = ['ORDER', 'CLUSTER', 'DISTRIBUTE', 'SORT'].map(keysOf);
  const said = [order, cluster, [...distribute, ...sort]].filter((keys) => keys.length > 0);
  if (said.length > 1) {
    throw syntaxError({
      text: stream.text,
      position: start.position,
      found: start.value,
      errorClass: 'UNSUPPORTED_FEATURE.COMBINATION_QUERY_RESULT_CLAUSES',
      message: 'The feature is not supported: Combination of ORDER BY/SORT BY/DISTRIBUTE BY/CLUSTER BY.',
    });
  }
  return said.flat();
}
