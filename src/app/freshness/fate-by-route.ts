import { isServiceError } from '../../base/errors.ts';
import type { RouteSettings } from '../../ingest/settings.ts';
import type { KafkaRecord } from '../../kafka/client.ts';
import { encodeRecordBatch } from '../../kafka/records/record-batch.ts';
import type { SealedBatch } from '../../protocol/sealed-batch.ts';
import type { Components } from '../components.ts';
import { tailStager } from '../live/live-rows.ts';

/** Whether a record is a row of the route's table, by the route as it is now; `undefined`: it cannot be said, for the table is not what it declares. */
export async function isRowByRoute(
  components: Components,
  route: RouteSettings,
  record: KafkaRecord,
  signal: AbortSignal | undefined,
): Promise<boolean | undefined> {
  const { catalog, tables } = components;
  const settings = tables.all.find(({ name }) => name === route.table);
  if (settings === undefined) return undefined;
  try {
    const table = await catalog.load(settings.name, signal);
    const snapshot = await table.refresh(signal);
    const stop = signal ?? new AbortController().signal;
    const stager = await tailStager(components, { settings, route, table, snapshot }, stop);
    const { result } = await stager.stage(batchOf(record), stop);
    return result.recordsWithRows > 0;
  } catch (error) {
    if (!isServiceError(error) || error.kind === 'aborted') throw error;
    return undefined;
  }
}

function batchOf({ topic, partition, offset, timestampMs, ...record }: KafkaRecord): SealedBatch {
  const { bytes } = encodeRecordBatch({ topic, partition, records: [{ ...record, timestampMs }] });
  const owned = new Uint8Array(bytes);
  // The broker writes the offset of a batch into its head.
  new DataView(owned.buffer).setBigInt64(0, offset);
  return {
    ...{ table: '', sequence: 0, bytes: owned.buffer, ranges: [], recordCount: 1, maxTimestampMs: timestampMs, openedAtMs: 0 },
    recordBatches: [{ topic, partition, start: 0, end: owned.length, fromOffset: offset }],
    sealedBy: 'drain',
  };
}
