import { consumerGroupOf } from '../../ingest/settings.ts';
import type { OffsetRow } from '../app-commands.ts';
import type { Components } from '../components.ts';
import { partitionStatuses } from '../pipeline-status.ts';

/** Where every partition stands: by the table (the truth), by the consumer group (a hint), and what the topic holds. */
export async function listOffsets(components: Components): Promise<readonly OffsetRow[]> {
  const { config, catalog, kafka, tables } = components;
  const rows: OffsetRow[] = [];
  for (const table of tables.all) {
    const snapshot = await catalog
      .load(table.name)
      .then((loaded) => loaded.refresh())
      .catch(() => undefined);
    const group = consumerGroupOf(config.ingest.groupId, tables.routeOf(table.name)?.divided?.spec ?? table.name);
    const partitions = await partitionStatuses(components, table.name, snapshot, undefined);
    for (const topic of new Set(partitions.map((partition) => partition.topic))) {
      const [held, hints] = await Promise.all([kafka.admin.offsets(topic), kafka.admin.groupOffsets(group, topic).catch(() => [])]);
      for (const { partition, committedOffset, endOffset } of partitions.filter((each) => each.topic === topic)) {
        rows.push({
          table: table.name,
          topic,
          partition,
          tableOffset: committedOffset,
          groupOffset: hints.find((entry) => entry.partition === partition)?.offset,
          earliest: held.find((entry) => entry.partition === partition)?.earliest,
          end: endOffset,
        });
      }
    }
  }
  return rows;
}
