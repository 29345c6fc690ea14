import { printJson } from '../../base/bigint-json.ts';
import { checkTableMetadata, missingSource } from './check-table-metadata.ts';
import { DefinitionDraft } from './definition-draft.ts';
import { refToJson } from './snapshot-json.ts';
import { refusedUpdate } from './spec-errors.ts';
import type {
  IcebergSnapshot,
  MetadataLogEntry,
  PartitionStatisticsFile,
  SnapshotLogEntry,
  SnapshotRef,
  StatisticsFile,
  TableMetadata,
} from './table-metadata.ts';

const mainBranchName = 'main';
const previousVersionsProperty = 'write.metadata.previous-versions-max';
const defaultPreviousVersions = 100;

/** Metadata while updates change it. Errors `ICEBERG_UPDATE_REFUSED` (kind invalid). */
export class MetadataDraft {
  readonly definition: DefinitionDraft;
  readonly #base: TableMetadata | undefined;
  readonly #nowMs: number;
  #metadata: TableMetadata;
  #changed = false;
  /** Time of the last snapshot these updates added or made current. */
  #snapshotMs: number | undefined;
  readonly #addedSnapshots = new Set<bigint>();
  readonly #madeCurrent: bigint[] = [];
  #removedSnapshots = false;

  constructor(base: TableMetadata | undefined, nowMs: number) {
    this.#base = base;
    this.#nowMs = nowMs;
    this.#metadata = base ?? nothing;
    this.definition = new DefinitionDraft(this.#metadata, this.#metadata.formatVersion);
  }

  assignUuid(tableUuid: string): void {
    if (tableUuid !== this.#metadata.tableUuid) this.#change({ tableUuid });
  }

  upgrade(formatVersion: 1 | 2 | 3): void {
    const current = this.#metadata.formatVersion;
    // A table that is being created has no version to fall behind.
    if (formatVersion < current && this.#base !== undefined) {
      throw refusedUpdate(`Cannot downgrade v${current} table to v${formatVersion}`);
    }
    this.definition.setFormatVersion(formatVersion);
    if (formatVersion !== current) this.#change({ formatVersion });
  }

  addSnapshot(snapshot: IcebergSnapshot): void {
    const { formatVersion, snapshots, lastSequenceNumber } = this.#metadata;
    if (this.definition.value.schemas.length === 0) throw refusedUpdate('Attempting to add a snapshot before a schema is added');
    if (this.definition.value.partitionSpecs.length === 0) {
      throw refusedUpdate('Attempting to add a snapshot before a partition spec is added');
    }
    if (this.definition.value.sortOrders.length === 0) throw refusedUpdate('Attempting to add a snapshot before a sort order is added');
    if (this.#snapshot(snapshot.snapshotId) !== undefined) {
      throw refusedUpdate(`Snapshot already exists for id: ${snapshot.snapshotId}`);
    }
    if (formatVersion > 1 && snapshot.sequenceNumber <= lastSequenceNumber && snapshot.parentSnapshotId !== undefined) {
      throw refusedUpdate(
        `Cannot add snapshot with sequence number ${snapshot.sequenceNumber} older than last sequence number ${lastSequenceNumber}`,
      );
    }
    const nextRowId = this.#nextRowId(snapshot);
    this.#addedSnapshots.add(snapshot.snapshotId);
    this.#snapshotMs = snapshot.timestampMs;
    const sequenceNumber = snapshot.sequenceNumber > lastSequenceNumber ? snapshot.sequenceNumber : lastSequenceNumber;
    this.#change({
      snapshots: [...snapshots, snapshot],
      lastSequenceNumber: formatVersion === 1 ? 0n : sequenceNumber,
      nextRowId,
    });
  }

  setRef(name: string, ref: SnapshotRef): void {
    const { refs, snapshotLog } = this.#metadata;
    const known = refs.get(name);
    if (known !== undefined && sameRef(known, ref)) return;
    const snapshot = this.#snapshot(ref.snapshotId);
    if (snapshot === undefined) throw refusedUpdate(`Cannot set ${name} to unknown snapshot: ${ref.snapshotId}`);
    if (this.#addedSnapshots.has(ref.snapshotId)) this.#snapshotMs = snapshot.timestampMs;
    this.#change({ refs: new Map(refs).set(name, ref) });
    if (name !== mainBranchName) return;
    if (ref.type === 'tag') throw refusedUpdate('main must be a branch, not a tag');
    if (known?.snapshotId === ref.snapshotId) return;
    this.#madeCurrent.push(ref.snapshotId);
    const entry = { timestampMs: this.#updatedMs(), snapshotId: ref.snapshotId };
    this.#change({ currentSnapshotId: ref.snapshotId, snapshotLog: [...snapshotLog, entry] });
  }

  /** The log keeps what was current: a table that is replaced loses its main branch for the moment only. */
  removeRef(name: string): void {
    const { refs } = this.#metadata;
    if (!refs.has(name)) return;
    this.#change({ refs: new Map([...refs].filter(([known]) => known !== name)) });
    if (name === mainBranchName) this.#change({ currentSnapshotId: undefined });
  }

  removeSnapshots(snapshotIds: readonly bigint[]): void {
    const gone = new Set(snapshotIds);
    const kept = this.#metadata.snapshots.filter(({ snapshotId }) => !gone.has(snapshotId));
    if (kept.length === this.#metadata.snapshots.length) return;
    this.#removedSnapshots = true;
    this.#change({
      snapshots: kept,
      statistics: this.#metadata.statistics.filter(({ snapshotId }) => !gone.has(snapshotId)),
      partitionStatistics: this.#metadata.partitionStatistics.filter(({ snapshotId }) => !gone.has(snapshotId)),
    });
    for (const [name, ref] of this.#metadata.refs) if (gone.has(ref.snapshotId)) this.removeRef(name);
  }

  setLocation(location: string): void {
    if (location !== this.#metadata.location) this.#change({ location });
  }

  setProperties(updates: Readonly<Record<string, string>>): void {
    if (Object.keys(updates).length > 0) this.#change({ properties: { ...this.#metadata.properties, ...updates } });
  }

  removeProperties(removals: readonly string[]): void {
    const gone = new Set(removals);
    if (gone.size === 0) return;
    this.#change({ properties: Object.fromEntries(Object.entries(this.#metadata.properties).filter(([key]) => !gone.has(key))) });
  }

  setStatistics(file: StatisticsFile): void {
    this.#change({ statistics: replaced(this.#metadata.statistics, file) });
  }

  removeStatistics(snapshotId: bigint): void {
    this.#change({ statistics: this.#metadata.statistics.filter((known) => known.snapshotId !== snapshotId) });
  }

  setPartitionStatistics(file: PartitionStatisticsFile): void {
    this.#change({ partitionStatistics: replaced(this.#metadata.partitionStatistics, file) });
  }

  removePartitionStatistics(snapshotId: bigint): void {
    this.#change({ partitionStatistics: this.#metadata.partitionStatistics.filter((known) => known.snapshotId !== snapshotId) });
  }

  /** The metadata as it is with all updates; the base itself when they changed nothing. */
  finish(baseLocation: string | undefined): TableMetadata {
    if (this.#base !== undefined && !this.#changed && !this.definition.changed) return this.#base;
    const draft = { ...this.#metadata, ...this.definition.value };
    const metadata: TableMetadata = {
      ...draft,
      lastUpdatedMs: this.#updatedMs(),
      snapshotLog: snapshotLogAfter(draft, {
        added: this.#addedSnapshots,
        madeCurrent: this.#madeCurrent,
        removedSnapshots: this.#removedSnapshots,
      }),
      metadataLog: metadataLogAfter(this.#base, draft, baseLocation),
    };
    const schema = metadata.schemas.find(({ schemaId }) => schemaId === metadata.currentSchemaId);
    const complaint = schema === undefined ? 'a table needs a schema' : missingSource(metadata, schema);
    if (complaint !== undefined) throw refusedUpdate(complaint);
    if (metadata.tableUuid === '') throw refusedUpdate(`UUID is required in format v${metadata.formatVersion}`);
    if (metadata.location === '') throw refusedUpdate('a table needs a location');
    checkTableMetadata(metadata, 'updated table metadata');
    return metadata;
  }

  /** Rows of a snapshot take the ids from the table's next one on. */
  #nextRowId({ firstRowId, addedRows }: IcebergSnapshot): bigint {
    const { formatVersion, nextRowId } = this.#metadata;
    if (formatVersion < 3) return nextRowId;
    if (firstRowId === undefined) throw refusedUpdate('Cannot add a snapshot: first-row-id is null');
    if (firstRowId < nextRowId) {
      throw refusedUpdate(`Cannot add a snapshot, first-row-id is behind table next-row-id: ${firstRowId} < ${nextRowId}`);
    }
    return firstRowId + (addedRows ?? 0n);
  }

  #updatedMs(): number {
    return Math.max(this.#base?.lastUpdatedMs ?? 0, this.#snapshotMs ?? this.#nowMs);
  }

  #snapshot(id: bigint): IcebergSnapshot | undefined {
    return this.#metadata.snapshots.findLast(({ snapshotId }) => snapshotId === id);
  }

  #change(part: Partial<TableMetadata>): void {
    this.#metadata = { ...this.#metadata, ...part };
    this.#changed = true;
  }
}

/** What a table that is being created starts from. */
const nothing: TableMetadata = {
  formatVersion: 2,
  tableUuid: '',
  location: '',
  lastSequenceNumber: 0n,
  lastUpdatedMs: 0,
  lastColumnId: 0,
  schemas: [],
  currentSchemaId: -1,
  partitionSpecs: [],
  defaultSpecId: -1,
  lastPartitionId: 999,
  sortOrders: [],
  defaultSortOrderId: -1,
  properties: {},
  currentSnapshotId: undefined,
  refs: new Map(),
  snapshots: [],
  snapshotLog: [],
  metadataLog: [],
  statistics: [],
  partitionStatistics: [],
  nextRowId: 0n,
  unknown: {},
};

function metadataLogAfter(
  base: TableMetadata | undefined,
  { properties }: TableMetadata,
  baseLocation: string | undefined,
): readonly MetadataLogEntry[] {
  if (base === undefined || baseLocation === undefined) return base?.metadataLog ?? [];
  const text = properties[previousVersionsProperty];
  const most = text !== undefined && /^\d{1,9}$/.test(text) ? Math.max(1, Number(text)) : defaultPreviousVersions;
  const kept = base.metadataLog.slice(Math.max(0, base.metadataLog.length - most + 1));
  return [...kept, { timestampMs: base.lastUpdatedMs, metadataFile: baseLocation }];
}

function replaced<T extends { readonly snapshotId: bigint }>(files: readonly T[], file: T): readonly T[] {
  return [...files.filter(({ snapshotId }) => snapshotId !== file.snapshotId), file];
}

function sameRef(left: SnapshotRef, right: SnapshotRef): boolean {
  return printJson(refToJson(left)) === printJson(refToJson(right));
}

interface SnapshotLogChanges {
  /** Snapshots that were added. */
  readonly added: ReadonlySet<bigint>;
  /** Snapshots that were made the current one, in turn. */
  readonly madeCurrent: readonly bigint[];
  readonly removedSnapshots: boolean;
}

/**
 * The snapshot log when updates are done: without snapshots that were current only between them, and from the first entry on behind which
 * no snapshot is gone, so that a time never leads to a snapshot that was not current then.
 */
function snapshotLogAfter(
  { snapshotLog, snapshots, currentSnapshotId }: TableMetadata,
  { added, madeCurrent, removedSnapshots }: SnapshotLogChanges,
): readonly SnapshotLogEntry[] {
  const passing = new Set(madeCurrent.filter((id) => added.has(id) && id !== currentSnapshotId));
  if (passing.size === 0 && !removedSnapshots) return snapshotLog;
  const ids = new Set(snapshots.map(({ snapshotId }) => snapshotId));
  const lastGone = removedSnapshots ? snapshotLog.findLastIndex(({ snapshotId }) => !ids.has(snapshotId)) : -1;
  return snapshotLog.slice(lastGone + 1).filter(({ snapshotId }) => !passing.has(snapshotId));
}
