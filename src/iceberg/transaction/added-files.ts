import { AnalysisException } from '../../base/analysis-exception.ts';
import { unassignedSequenceNumber } from '../metadata/avro-settings.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../metadata/content-file.ts';
import type { TableMetadata } from '../metadata/table-metadata.ts';
import { bySpec } from './by-spec.ts';
import type { ManifestContent } from './manifest-writer.ts';
import type { SnapshotChange } from './snapshot-change.ts';

/** What the manifests of added files hold: one spec and one kind each, those of the newest spec first. */
export function addedContents(
  change: SnapshotChange,
  metadata: TableMetadata,
  snapshotId: bigint,
  content: ManifestFile['content'],
): readonly ManifestContent[] {
  const files = change.added.filter((file) => (file.content === 'data') === (content === 'data'));
  for (const file of files) checkAdded(file, metadata);
  const dataSequenceNumber = change.dataSequenceNumber ?? unassignedSequenceNumber;
  const sequenceNumber = content === 'data' ? dataSequenceNumber : unassignedSequenceNumber;
  return bySpec(files).map(([specId, members]) => ({
    specId,
    content,
    entries: members.map(
      (file): ManifestEntry => ({ status: 'added', snapshotId, sequenceNumber, fileSequenceNumber: unassignedSequenceNumber, file }),
    ),
  }));
}

/** @throws AnalysisException for a file that the table's format version, or its specs, have no place for. */
function checkAdded(file: ContentFile, { formatVersion, partitionSpecs }: TableMetadata): void {
  const spec = partitionSpecs.find(({ specId }) => specId === file.specId);
  if (spec === undefined) throw refused(`Cannot find partition spec ${file.specId} for data file: ${file.path}`);
  if (spec.fields.length !== file.partition.length) {
    throw refused(`Invalid partition of file ${file.path}: ${file.partition.length} values for ${spec.fields.length} fields`);
  }
  if (file.content === 'data') return;
  if (formatVersion < 2) throw refused('Deletes are supported in V2 and above');
  if (file.content !== 'position-deletes') return;
  if (formatVersion === 2 && file.format === 'puffin') throw refused(`Must not use DVs for position deletes in V2: ${file.path}`);
  if (formatVersion > 2 && file.format !== 'puffin') {
    throw refused(`Must use DVs for position deletes in V${formatVersion}: ${file.path}`);
  }
}

function refused(message: string): AnalysisException {
  return new AnalysisException({ errorClass: 'ICEBERG_FILE_REFUSED', message });
}
