import { fileURLToPath } from 'node:url';
import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { Failpoint } from '../base/failpoint.ts';
import type { IdSource } from '../base/ids.ts';
import type { Random } from '../base/random.ts';
import type { OpenEngine } from '../engine/engine.ts';
import { plainLocation } from '../storage/allowed-locations.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { CommitTried } from '../table/commit-driver.ts';
import type { FileRewriter } from '../table/operations.ts';
import type { WriteSpec } from '../table/staged-file.ts';
import type { QueryableTable, TableDefinition } from '../table/table.ts';
import type { CloneRequest, ConvertRequest, CreateRequest, CreateResult, TableFormatDriver } from '../table/table-formats.ts';
import { cloneTable, isRooted } from './definition/clone-table.ts';
import { convertTable } from './definition/convert-table.ts';
import { createTable } from './definition/create-table.ts';
import { DeltaLog } from './delta-log.ts';
import { DeltaTable } from './delta-table.ts';
import type { ParquetRowCodec } from './log/codec.ts';
import { parquetRows } from './log/parquet-rows.ts';
import { firstActions } from './table-definition.ts';
import { checkWritable } from './table-features.ts';

export interface DeltaTablesParts {
  /** The store a table lies in; retries reads but never `putIfAbsent`. */
  readonly openStore: (location: string) => ObjectStore;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: IdSource;
  /** Version of this program, for the history of tables. */
  readonly version: string;
  readonly rewriter: FileRewriter;
  /** For row operations and queries; without it they are refused. */
  readonly engine?: OpenEngine | undefined;
  /** For tables that do not say it themselves (`delta.parquet.compression.codec`). Default zstd. */
  readonly compression?: WriteSpec['compression'] | undefined;
  /** Default: the Parquet codec of this process. */
  readonly codec?: ParquetRowCodec | undefined;
  /** Deletes expired log with the log checkpoints of row operations, as Spark does. Default false: feeds say what they still need. */
  readonly cleansUpLog?: boolean | undefined;
  readonly failpoint?: Failpoint | undefined;
  readonly commitTried?: CommitTried | undefined;
  /** See `DeltaTableParts`. */
  readonly scratchDirectory?: string | undefined;
  /** Directories that tables may refer to beside their own. Default: none, and such files are refused (`FILE_OUTSIDE_TABLE`). */
  readonly allowedLocations?: readonly string[] | undefined;
  /** What the clones that were made refer to. Default: of this driver. */
  readonly cloneSources?: CloneSources | undefined;
  /** Whether unknown properties below `delta.` are taken as they are. Default: they are refused. */
  readonly arbitraryProperties?: (() => boolean) | undefined;
  /** Tables stay the tables they were when they were opened: see `DeltaLogParts`. */
  readonly staysWithTable?: boolean | undefined;
}

/** Opens, creates, clones and converts Delta tables. */
export class DeltaTables implements TableFormatDriver {
  readonly format = 'delta';
  readonly #parts: DeltaTablesParts;
  readonly #cloneSources: CloneSources;

  constructor(parts: DeltaTablesParts) {
    this.#parts = parts;
    this.#cloneSources = parts.cloneSources ?? new CloneSources();
  }

  async open(name: string, location: string, signal?: AbortSignal): Promise<QueryableTable | undefined> {
    const log = this.#log(name, location);
    return (await log.find(signal)) === undefined ? undefined : this.#table(log, location);
  }

  /**
   * The table at the location, created as version 0 when there is none. Of several racing creators one wins and the others get the winner's
   * table. For tables that decoded rows are appended to.
   *
   * @throws AnalysisException what `firstActions` throws for a definition that no table can have, and `checkWritable` for one whose features
   * such appends do not keep.
   */
  async create(name: string, location: string, definition: TableDefinition, signal?: AbortSignal): Promise<QueryableTable> {
    const log = this.#log(name, location);
    const table = this.#table(log, location);
    if ((await log.find(signal)) === undefined) {
      const { ids, clock } = this.#parts;
      const first = firstActions(name, definition, { tableId: '', nowMs: clock.now(), ids });
      checkWritable(first.protocol, first.metadata, definition.schema, name);
      await createTable(table.context, undefined, { name, location, definition, mode: 'create', signal }).catch((error: unknown) => {
        // Whose the table is shows when it is read, which happens next.
        const theirs = isServiceError(error) && error.code === 'DELTA_TABLE_ALREADY_EXISTS';
        if (!theirs && !isServiceError(error, 'unknown-outcome')) throw error;
      });
    }
    await log.refresh(signal);
    return table;
  }

  async createTable(request: CreateRequest): Promise<CreateResult> {
    const log = this.#log(request.name, request.location);
    const table = this.#table(log, request.location);
    const { created, written } = await createTable(table.context, await log.find(request.signal), request);
    await log.refresh(request.signal);
    return { table, created, written };
  }

  async clone(request: CloneRequest): Promise<QueryableTable> {
    const log = this.#log(request.target.name, request.target.location);
    const table = this.#table(log, request.target.location);
    const { source } = request;
    const made = await cloneTable(table.context, await log.find(request.signal), request);
    if (made && isRooted(source)) this.#cloneSources.add(table.context.place.root, source.context.place.within.directories);
    await log.refresh(request.signal);
    return table;
  }

  async convert(request: ConvertRequest): Promise<QueryableTable> {
    const log = this.#log(request.location, request.location);
    const table = this.#table(log, request.location);
    await convertTable(table.context, await log.find(request.signal), request);
    await log.refresh(request.signal);
    return table;
  }

  #log(name: string, location: string): DeltaLog {
    const { openStore, clock, codec, staysWithTable } = this.#parts;
    return new DeltaLog({ name, store: openStore(location), clock, codec: codec ?? parquetRows, staysWithTable });
  }

  #table(log: DeltaLog, location: string): DeltaTable {
    const { allowedLocations = [] } = this.#parts;
    const outside = (): readonly string[] => [...this.#cloneSources.of(log.store.root), ...allowedLocations];
    return new DeltaTable({ ...this.#parts, log, location, engineInfo: this.#engineInfo(), outside });
  }

  #engineInfo(): string {
    return `Tidewater/${this.#parts.version}`;
  }
}

/** Which directories the clones that were made here refer to: by their makers' word, not by that of their logs. */
export class CloneSources {
  readonly #sources = new Map<string, readonly string[]>();

  /** Directories of the files of a clone at a root: its source's, and those that a source which is a clone itself refers to. */
  of(root: string): readonly string[] {
    return this.#sources.get(placeOf(root)) ?? [];
  }

  /** Takes down that a table was made as a clone of another. */
  add(root: string, sources: readonly string[]): void {
    this.#sources.set(placeOf(root), sources);
  }
}

/** Roots of local stores are URIs. */
function placeOf(root: string): string {
  return plainLocation(root.startsWith('file:') ? fileURLToPath(root) : decodeURIComponent(root));
}
