import type { StructType } from '../../schema/types.ts';
import type { Relation } from '../../table/relation.ts';
import { analyzeQuery } from './analyze-query.ts';
import { withDefaultValues } from './default-values.ts';
import { engineFailure } from './engine-failure.ts';
import { parseSelect } from './parse-select.ts';
import { QueryContext, type QueryOptions } from './query-context.ts';

export type { QueryOptions } from './query-context.ts';

/** A query that is known to be sound: its columns, and on demand its rows. */
export interface TranslatedQuery {
  readonly schema: StructType;
  /** Opens the sources, each with what the query asks of it. Called once. */
  relation(): Promise<Relation>;
}

/**
 * Reads a query in Spark's dialect and finds everything it names. The engine's text is made anew from what was understood: names are
 * quoted, literals printed, and only functions of the table in `expr/functions` are called.
 *
 * @throws ParseException with the place in the text; AnalysisException for names, types and functions that do not fit.
 */
export async function translateQuery(text: string, options: QueryOptions): Promise<TranslatedQuery> {
  const tree = withDefaultValues(parseSelect(text), options.defaults ?? []);
  const context = new QueryContext(options);
  const query = await analyzeQuery(context, { named: new Map(), parent: undefined, tree });
  const schema: StructType = { kind: 'struct', fields: query.fields };
  try {
    await options.engine.describe(query.print(), options.signal);
  } catch (error) {
    throw engineFailure(error);
  }
  const relation = async (): Promise<Relation> => {
    await context.openSources();
    return { sql: query.print(), schema };
  };
  return { schema, relation };
}
