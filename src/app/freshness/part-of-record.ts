import { KnownSchemas } from '../../ingest/decode/known-schemas.ts';
import { DivisionKeys } from '../../ingest/divide/division-keys.ts';
import type { KafkaRecord } from '../../kafka/client.ts';
import { encodeRecordBatch } from '../../kafka/records/record-batch.ts';
import { RecordCursor } from '../../kafka/records/record-cursor.ts';
import { type DivisionSpec, unmatchedPart } from '../../protocol/division.ts';
import type { Components } from '../components.ts';

/** The table of a divided route that a record goes to; `undefined`: it cannot be said here, for schemas of a registry are needed. */
export function tableOfRecord(
  { config, tables }: Pick<Components, 'config' | 'tables'>,
  spec: DivisionSpec,
  record: KafkaRecord,
): string | undefined {
  const { topic, partition, key, value, headers, timestampMs } = record;
  const { maxNestingDepth: maxDepth, maxUnpackedBytes } = config.ingest;
  const schemas = new KnownSchemas();
  const keys = new DivisionKeys(spec, { maxDepth, maxUnpackedBytes, schemas });
  keys.startPartition(topic, partition);
  const { bytes } = encodeRecordBatch({ topic, partition, records: [{ key, value, headers, timestampMs }] });
  const cursor = new RecordCursor(bytes);
  cursor.next();
  keys.put(cursor);
  const [found] = keys.take();
  if (schemas.takeMissing().length > 0 || found === undefined) return undefined;
  if (typeof found === 'number') return spec.parts[found]?.table;
  const made =
    'wanted' in found ? tables.routes.find((route) => route.divided?.spec === spec && route.madeFor === found.wanted) : undefined;
  return made?.table ?? spec.parts[unmatchedPart(spec)]?.table;
}
