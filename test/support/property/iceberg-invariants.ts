import type { IcebergTable } from '../../../src/iceberg/iceberg-table.ts';
import type { ContentFile, ManifestEntry, ManifestFile } from '../../../src/iceberg/metadata/content-file.ts';
import type { IcebergSnapshot } from '../../../src/iceberg/metadata/table-metadata.ts';
import { entriesOf, manifestsOf } from '../../../src/iceberg/scan/manifests.ts';
import type { SnapshotState } from '../../../src/iceberg/snapshot-state.ts';

interface ListedManifest {
  readonly manifest: ManifestFile;
  readonly entries: readonly ManifestEntry[];
}

/** Numbers that a file got when it came and keeps: sequence numbers and, from format version 3 on, its first row id. */
interface FileNumbers {
  readonly sequenceNumber: bigint;
  readonly fileSequenceNumber: bigint;
  readonly firstRowId: bigint | undefined;
}

/** Checks what the format promises of a table's metadata, and over the states of one table what must never change. */
export class IcebergInvariants {
  readonly #numbers = new Map<string, FileNumbers>();
  readonly #seen = new Set<bigint>();

  /** What is wrong with the table. Snapshots that were looked at before are only looked at for files that are gone. */
  async faults(table: IcebergTable, options: { readonly everything?: boolean } = {}): Promise<readonly string[]> {
    const view = await table.refresh();
    const faults = [...headFaults(view)];
    const referred = new Set<string>();
    for (const snapshot of view.metadata.snapshots) {
      const known = this.#seen.has(snapshot.snapshotId);
      if (known && options.everything !== true) continue;
      this.#seen.add(snapshot.snapshotId);
      const where = `snapshot ${snapshot.sequenceNumber}`;
      const listed = await this.#listed(table, view, snapshot);
      if (snapshot.manifestList !== undefined) referred.add(snapshot.manifestList);
      for (const { manifest, entries } of listed) {
        referred.add(manifest.path);
        for (const { file } of entries) referred.add(file.path);
        faults.push(...countFaults(manifest, entries).map((fault) => `${where}, ${nameOf(manifest.path)}: ${fault}`));
      }
      faults.push(...totalFaults(snapshot, listed).map((fault) => `${where}: ${fault}`));
      faults.push(...this.#numberFaults(view, listed, known).map((fault) => `${where}: ${fault}`));
    }
    if (options.everything === true) faults.push(...(await fileFaults(table, view, referred)));
    return faults;
  }

  async #listed(table: IcebergTable, { metadata }: SnapshotState, snapshot: IcebergSnapshot): Promise<readonly ListedManifest[]> {
    const manifests = await manifestsOf(table.context, metadata, snapshot);
    const listed: ListedManifest[] = [];
    for (const manifest of manifests) listed.push({ manifest, entries: await entriesOf(table.context, metadata, manifest) });
    return listed;
  }

  /** After a return to a snapshot from before row ids, files that had none get theirs once more. */
  forgetRowIds(): void {
    for (const [key, numbers] of this.#numbers) this.#numbers.set(key, { ...numbers, firstRowId: undefined });
  }

  #numberFaults({ metadata }: SnapshotState, listed: readonly ListedManifest[], old: boolean): readonly string[] {
    const faults: string[] = [];
    for (const entry of listed.flatMap(({ entries }) => entries)) {
      const { file, sequenceNumber, fileSequenceNumber } = entry;
      const key = keyOf(file);
      const name = nameOf(file.path);
      const known = this.#numbers.get(key);
      if (sequenceNumber > metadata.lastSequenceNumber) faults.push(`${name} has sequence number ${sequenceNumber} above the table's`);
      if (sequenceNumber > fileSequenceNumber) faults.push(`${name} has data of ${sequenceNumber} in a file of ${fileSequenceNumber}`);
      if (known !== undefined && (known.sequenceNumber !== sequenceNumber || known.fileSequenceNumber !== fileSequenceNumber)) {
        faults.push(
          `${name} went from sequence numbers ${known.sequenceNumber}, ${known.fileSequenceNumber} to ${sequenceNumber}, ${fileSequenceNumber}`,
        );
      }
      if (!old && known?.firstRowId !== undefined && entry.status !== 'deleted' && file.firstRowId !== known.firstRowId) {
        faults.push(`${name} went from row id ${known.firstRowId} to ${file.firstRowId}`);
      }
      this.#numbers.set(key, { sequenceNumber, fileSequenceNumber, firstRowId: file.firstRowId ?? known?.firstRowId });
    }
    return [...faults, ...rowIdFaults(metadata, liveOf(listed))];
  }
}

function keyOf(file: ContentFile): string {
  return `${file.path} ${file.contentOffset ?? ''}`;
}

function headFaults({ metadata }: SnapshotState): readonly string[] {
  const { currentSnapshotId, refs, snapshots, snapshotLog, lastSequenceNumber, nextRowId, formatVersion } = metadata;
  const faults: string[] = [];
  const ids = new Set(snapshots.map(({ snapshotId }) => snapshotId));
  if (ids.size !== snapshots.length) faults.push('a snapshot stands twice in the metadata');
  if (refs.get('main')?.snapshotId !== currentSnapshotId) faults.push('main is not the current snapshot');
  if (currentSnapshotId !== undefined && !ids.has(currentSnapshotId)) faults.push('the current snapshot is not there');
  if (snapshotLog.at(-1)?.snapshotId !== currentSnapshotId) faults.push('the log does not end with the current snapshot');
  for (const [name, { snapshotId }] of refs) if (!ids.has(snapshotId)) faults.push(`the snapshot of ${name} is not there`);
  for (const { snapshotId } of snapshotLog) if (!ids.has(snapshotId)) faults.push(`snapshot ${snapshotId} of the log is not there`);
  for (const { sequenceNumber } of snapshots) {
    if (sequenceNumber > lastSequenceNumber) faults.push(`sequence number ${sequenceNumber} is above the table's, ${lastSequenceNumber}`);
  }
  if (formatVersion === 3) {
    for (const { firstRowId = 0n, addedRows = 0n, sequenceNumber } of snapshots) {
      if (firstRowId + addedRows > nextRowId) faults.push(`rows of ${sequenceNumber} have ids from the next row id, ${nextRowId}, on`);
    }
  }
  return faults;
}

function countFaults(manifest: ManifestFile, entries: readonly ManifestEntry[]): readonly string[] {
  const faults: string[] = [];
  const expectEqual = (what: string, stated: bigint | number | undefined, counted: bigint | number): void => {
    if (stated === undefined || BigInt(stated) !== BigInt(counted)) faults.push(`${what} is ${stated}, counted ${counted}`);
  };
  for (const [status, files, rows] of [
    ['added', manifest.addedFiles, manifest.addedRows],
    ['existing', manifest.existingFiles, manifest.existingRows],
    ['deleted', manifest.deletedFiles, manifest.deletedRows],
  ] as const) {
    const matching = entries.filter((entry) => entry.status === status);
    expectEqual(`count of ${status} files`, files, matching.length);
    expectEqual(
      `count of ${status} rows`,
      rows,
      matching.reduce((sum, { file }) => sum + file.recordCount, 0),
    );
  }
  const live = entries.filter(({ status }) => status !== 'deleted').map(({ sequenceNumber }) => sequenceNumber);
  const [least] = live.toSorted((left, right) => (left < right ? -1 : 1));
  if (least !== undefined) expectEqual('least sequence number', manifest.minSequenceNumber, least);
  const wrong = entries.filter(
    ({ file }) => file.specId !== manifest.specId || (file.content === 'data') !== (manifest.content === 'data'),
  );
  if (wrong.length > 0) faults.push('it has entries of another spec or kind');
  return faults;
}

function liveOf(listed: readonly ListedManifest[]): readonly ManifestEntry[] {
  return listed.flatMap(({ entries }) => entries.filter(({ status }) => status !== 'deleted'));
}

function totalFaults({ summary }: IcebergSnapshot, listed: readonly ListedManifest[]): readonly string[] {
  const live = liveOf(listed).map(({ file }) => file);
  const data = live.filter(({ content }) => content === 'data');
  const rowsOf = (files: readonly ContentFile[]): number => files.reduce((sum, { recordCount }) => sum + recordCount, 0);
  const counted = {
    'total-data-files': data.length,
    'total-records': rowsOf(data),
    'total-delete-files': live.length - data.length,
    'total-position-deletes': rowsOf(live.filter(({ content }) => content === 'position-deletes')),
    'total-equality-deletes': rowsOf(live.filter(({ content }) => content === 'equality-deletes')),
    'total-files-size': live.reduce((sum, file) => sum + (file.contentSizeBytes ?? file.fileSizeBytes), 0),
  };
  const paths = live.map(keyOf);
  const twice = paths.filter((path, index) => paths.indexOf(path) !== index);
  return [
    ...Object.entries(counted).flatMap(([key, count]) =>
      summary[key] === String(count) ? [] : [`${key} is ${summary[key]}, counted ${count}`],
    ),
    ...twice.map((path) => `${nameOf(path)} is live twice`),
  ];
}

/** Row ids of live files do not overlap, and end before the next one. */
function rowIdFaults(metadata: SnapshotState['metadata'], live: readonly ManifestEntry[]): readonly string[] {
  if (metadata.formatVersion < 3) return [];
  const ranges = live.flatMap(({ file }) =>
    file.content === 'data' && file.firstRowId !== undefined
      ? [{ file, from: file.firstRowId, until: file.firstRowId + BigInt(file.recordCount) }]
      : [],
  );
  ranges.sort((left, right) => (left.from < right.from ? -1 : 1));
  return ranges.flatMap(({ file, from, until }, index) => {
    const before = ranges[index - 1];
    return [
      ...(before !== undefined && before.until > from ? [`row ids of ${nameOf(file.path)} and ${nameOf(before.file.path)} overlap`] : []),
      ...(until > metadata.nextRowId ? [`row ids of ${nameOf(file.path)} go beyond ${metadata.nextRowId}`] : []),
    ];
  });
}

/** Files of snapshots that are gone, and files that are no snapshot's. */
async function fileFaults(table: IcebergTable, { metadata }: SnapshotState, referred: ReadonlySet<string>): Promise<readonly string[]> {
  const present = new Set<string>();
  for await (const { location } of table.context.files.list(metadata.location)) present.add(location);
  const unreferred = [...present].filter((path) => !referred.has(path) && !/\.(metadata\.json|text|crc)$/.test(path));
  // What a snapshot deleted may be gone when no other snapshot has it.
  const live = new Set<string>();
  for (const snapshot of metadata.snapshots) {
    if (snapshot.manifestList !== undefined) live.add(snapshot.manifestList);
    for (const manifest of await manifestsOf(table.context, metadata, snapshot)) {
      live.add(manifest.path);
      for (const { file, status } of await entriesOf(table.context, metadata, manifest)) if (status !== 'deleted') live.add(file.path);
    }
  }
  const gone = [...live].filter((path) => !present.has(path));
  return [...gone.map((path) => `${nameOf(path)} is gone`), ...unreferred.map((path) => `${nameOf(path)} is nobody's`)];
}

function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}
