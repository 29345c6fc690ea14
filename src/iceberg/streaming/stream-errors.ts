import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupportedFeature } from '../../base/unsupported-feature.ts';
import type { IcebergSnapshot } from '../metadata/table-metadata.ts';

/** The snapshot did something else than append, and nothing says to pass it over. In the words of the reference implementation. */
export function notAppended({ snapshotId, summary }: IcebergSnapshot): AnalysisException {
  const operation = summary['operation'] ?? 'unknown';
  if (operation === 'delete') return refused(snapshotId, 'delete', 'deletes', 'streaming-skip-delete-snapshots');
  if (operation === 'overwrite') return refused(snapshotId, 'overwrite', 'overwrites', 'streaming-skip-overwrite-snapshots');
  return new AnalysisException({
    errorClass: 'STREAM_SNAPSHOT_UNSUPPORTED',
    kind: 'unsupported',
    message: `Cannot process unknown snapshot operation: ${operation} (snapshot id ${snapshotId})`,
  });
}

function refused(snapshotId: bigint, operation: string, noun: string, option: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAM_SNAPSHOT_UNSUPPORTED',
    kind: 'unsupported',
    message: `Cannot process ${operation} snapshot: ${snapshotId}, to ignore ${noun}, set ${option}=true`,
    hint: 'a stream passes appended rows on; for all changes of rows: CALL system.create_changelog_view(table => …)',
  });
}

/** Where the stream stood is not there any more, or not among the snapshots that led to the newest. */
export function offsetGone(snapshotId: bigint, what: 'expired' | 'rolled-back'): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAM_OFFSET_GONE',
    kind: 'not-found',
    message:
      what === 'expired'
        ? `Cannot load current offset at snapshot ${snapshotId}, the snapshot was expired or removed`
        : `Cannot go on behind snapshot ${snapshotId}: it is not an ancestor of the newest snapshot, the table was rolled back`,
    hint: "start with an empty checkpoint folder and stream-from-timestamp, or set 'failOnDataLoss' to 'false' to go on with the oldest snapshot there is",
  });
}

/** Rows of a schema that was made after the stream was opened would be cut. */
export function schemaChanged(table: string, { snapshotId }: IcebergSnapshot): AnalysisException {
  return new AnalysisException({
    errorClass: 'STREAM_SCHEMA_CHANGED',
    message: `table "${table}": the schema was changed before snapshot ${snapshotId}`,
    hint: 'start the query again: it goes on from its checkpoint with the new schema',
  });
}

/** An option that streams of this format do not have. */
export function unknownForIceberg(option: string, hint: string): AnalysisException {
  return unsupportedFeature(`${option} for a stream of an Iceberg table`, { hint });
}
