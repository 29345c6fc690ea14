import type { StructType } from '../schema/types.ts';
import type { TableDefinition } from '../table/table.ts';
import type { LeaderTable } from '../table/twin.ts';
import type { SharedTable } from '../twin/twin-follower.ts';

/** What a twin is made with: the columns and the partitioning that its leader has now, ids that were given before, and whose files they are. */
export async function twinDefinition(
  { table, part }: SharedTable<LeaderTable>,
  properties: Readonly<Record<string, string>>,
  signal?: AbortSignal,
): Promise<TableDefinition> {
  const { tableId, schema, partitionColumns } = await table.refresh(signal);
  const note = await part.twin();
  return {
    schema: plain(schema, partitionColumns),
    partitionColumns,
    columnIds: note?.columnIds,
    properties: {
      ...properties,
      // Others refuse to delete files of such a table.
      'gc.enabled': 'false',
      'tidewater.leader': tableId,
      'tidewater.leader.location': table.location,
    },
  };
}

/**
 * Without what only the leader's format says of columns. Those that partition it are not in its files, and pyiceberg looks for required ones there before it
 * looks at the metadata: they are optional here.
 */
function plain(schema: StructType, partitionColumns: readonly string[]): StructType {
  const fields = schema.fields.map(({ name, type, nullable }) => ({ name, type, nullable: nullable || partitionColumns.includes(name) }));
  return { kind: 'struct', fields };
}
