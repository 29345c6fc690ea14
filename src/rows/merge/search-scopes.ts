import { quoteName } from '../../expr/sql/engine-sql.ts';
import type { StructType } from '../../schema/types.ts';
import type { MergeRequest } from '../../table/row-operations.ts';
import type { RowWork } from '../row-work.ts';
import type { MergeSource } from './merge-source.ts';
import { type MergeScopes, mergeScopes } from './merge-statement.ts';

/** Names where the request gives none. */
const defaultAlias = { target: 'target', source: 'source' };

/** Both sides as the search joins them: the table, which has `schema`, as `t`, the source as `s`. */
export function searchScopes(
  work: RowWork,
  schema: StructType,
  { request, source }: { readonly request: MergeRequest; readonly source: MergeSource },
): MergeScopes {
  const target = {
    alias: request.targetAlias ?? defaultAlias.target,
    schema,
    columnSql: (name: string) => `t.${quoteName(name)}`,
  };
  const given = {
    alias: request.sourceAlias ?? defaultAlias.source,
    schema: source.schema,
    columnSql: (name: string) => `s.${quoteName(source.columnOf(name))}`,
  };
  return mergeScopes({ target, source: given }, work.now);
}
