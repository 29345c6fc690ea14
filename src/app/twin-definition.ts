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
    schema: plain(schema),
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

/** Without what only the leader's format says of columns. */
function plain(schema: StructType): StructType {
  return { kind: 'struct', fields: schema.fields.map(({ name, type, nullable }) => ({ name, type, nullable })) };
}
