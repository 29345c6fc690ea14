import { eventually, type ProductProcess } from './process.ts';
import type { PipelineCase, Produced } from './process-workload.ts';

/** Waits until the table holds everything that was produced and the feed everything the table holds. */
export async function untilThrough(
  running: ProductProcess,
  pipeline: PipelineCase,
  produced: Produced,
  deadlineMs = 90_000,
): Promise<void> {
  let last = '';
  try {
    await eventually(
      `${pipeline.name} is through`,
      async () => {
        if (running.exit !== undefined) return true;
        const status = await running.status();
        last = JSON.stringify(status);
        const table = status.tables[0];
        const committed = [...produced.ends].every(
          ([partition, end]) => table?.partitions.find((entry) => entry.partition === partition)?.committedOffset === Number(end),
        );
        return (
          committed && status.feeds.every(({ lagVersions, publishedVersion }) => lagVersions === 0 && publishedVersion === table?.version)
        );
      },
      deadlineMs,
    );
  } catch (error) {
    throw new Error(`${String(error)}\nstatus: ${last}\nlog:\n${running.log}`, { cause: error });
  }
  if (running.exit !== undefined) throw new Error(`ended with ${JSON.stringify(running.exit)}:\n${running.log}`);
}

/** Waits until the process knows through which time its table is whole: its next commit says so. */
export async function untilTimed(running: ProductProcess, table = 'events'): Promise<void> {
  await eventually(`${table} is whole through a time`, async () => {
    if (running.exit !== undefined) return true;
    return (await running.metrics()).sum('tidewater_ingest_valid_through_timestamp_seconds', { table }) > 0;
  });
}
