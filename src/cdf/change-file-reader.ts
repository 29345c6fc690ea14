import { throwIfAborted } from '../base/abort.ts';
import { assert } from '../base/assert.ts';
import { isServiceError, serviceError } from '../base/errors.ts';
import { readParquet } from '../codec/parquet/read-parquet.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import { describeFields } from '../schema/describe-type.ts';
import { takeRows } from '../schema/take.ts';
import type { StructType } from '../schema/types.ts';
import type { ObjectStore, OpenStoreWith } from '../storage/object-store.ts';
import type { ChangeFile, VersionChanges } from '../table/changes.ts';
import { changesGone } from '../table/changes-gone.ts';
import { type ChangeOrder, deleteCode, plainOrder, readChangeCodes, recordedOrder } from './change-order.ts';
import { JsonBuffer } from './json-buffer.ts';
import { RowWriters } from './row-writers.ts';

/** Larger change files are refused: a file is held in memory while its rows are published. */
export const maxChangeFileBytes: number = 1024 * 1024 * 1024;

const changeTypeColumn = '_change_type';

/** A change file in memory: its rows, their change types and the order in which they are published. */
export interface OpenChangeFile {
  readonly rows: RowWriters;
  /** Change code by row. */
  readonly codes: Uint8Array;
  readonly order: ChangeOrder;
}

/** Which file of which table, and how its rows are to be seen. */
export interface ChangeFileRequest {
  readonly location: string;
  readonly changes: VersionChanges;
  readonly file: ChangeFile;
  readonly keyColumns: readonly string[];
}

/** Opens change files and keeps the last one, so that successive runs over one file read it once. */
export class ChangeFileReader {
  readonly #openStore: OpenStoreWith;
  #store: { readonly location: string; readonly storage: ChangeFile['storage']; readonly store: ObjectStore } | undefined;
  #last: { readonly identity: string; readonly opened: OpenChangeFile } | undefined;

  constructor(openStore: OpenStoreWith) {
    this.#openStore = openStore;
  }

  /**
   * @throws ServiceError `CDF_GAP` (kind not-found) when the file is gone, `CDF_FILE_TOO_LARGE` (kind unsupported), `CDF_FILE_CORRUPT`
   * (kind corrupt) when it does not hold what the log says.
   */
  async open(request: ChangeFileRequest, signal?: AbortSignal): Promise<OpenChangeFile> {
    const identity = identityOf(request);
    if (this.#last?.identity === identity) return this.#last.opened;
    this.#last = undefined;
    throwIfAborted(signal);
    const opened = openRows(request, await this.#read(request, signal));
    this.#last = { identity, opened };
    return opened;
  }

  async #read(request: ChangeFileRequest, signal: AbortSignal | undefined): Promise<readonly ColumnBatch[]> {
    const { file, changes, location } = request;
    refuseTooLarge(file);
    const bytes = await readPresent(this.#storeOf(file.location ?? location, file.storage), request, signal);
    const stored = await readParquet(bytes, { schema: fileSchema(changes.schema, file) });
    const batches = changedRows(stored.batches, file);
    const rowCount = batches.reduce((sum, batch) => sum + batch.rowCount, 0);
    if (file.rowCount === undefined || file.rowCount === rowCount) return batches;
    throw serviceError.corrupt(
      'CDF_FILE_CORRUPT',
      `file "${file.path}" of version ${changes.version} holds ${rowCount} rows, the log says ${file.rowCount}`,
    );
  }

  #storeOf(location: string, storage: ChangeFile['storage']): ObjectStore {
    if (this.#store?.location !== location || this.#store.storage !== storage) {
      this.#store = { location, storage, store: this.#openStore(location, storage) };
    }
    return this.#store.store;
  }
}

function openRows(request: ChangeFileRequest, batches: readonly ColumnBatch[]): OpenChangeFile {
  const { file, changes, keyColumns } = request;
  const rows = new RowWriters({ schema: changes.schema, partitionValues: file.partitionValues, batches, keyColumns });
  const codes = new Uint8Array(rows.rowCount);
  if (file.kind === 'insert') return { rows, codes, order: plainOrder(rows.rowCount, 'additions') };
  if (file.kind === 'delete') return { rows, codes: codes.fill(deleteCode), order: plainOrder(rows.rowCount, 'removals') };
  let start = 0;
  for (const batch of batches) {
    const column = batch.columns.at(-1);
    assert(column?.layout === 'bytes', 'the change type is read as the last column');
    readChangeCodes(column, { codes, start, path: file.path });
    start += batch.rowCount;
  }
  return { rows, codes, order: recordedOrder(codes, keyColumns.length === 0 ? undefined : keyText(rows)) };
}

function keyText(rows: RowWriters): (row: number) => string {
  const key = new JsonBuffer();
  return (row) => {
    key.clear();
    rows.key(key, row);
    return key.text();
  };
}

/** What is read from the file: not the columns the log gives the value of; last, in recorded files, the change type. */
function fileSchema(schema: StructType, file: ChangeFile): StructType {
  const fields = schema.fields.filter((field) => !Object.hasOwn(file.partitionValues, field.name));
  if (file.kind !== 'recorded') return { kind: 'struct', fields };
  return { kind: 'struct', fields: [...fields, { name: changeTypeColumn, type: { kind: 'string' }, nullable: true }] };
}

function identityOf(request: ChangeFileRequest): string {
  const { location, changes, file, keyColumns } = request;
  // Versions may show different rows of one file.
  const rows = file.deletedRows === undefined && file.onlyRows === undefined ? 'all' : changes.version;
  return [file.location ?? location, file.kind, file.path, rows, describeFields(changes.schema.fields), ...keyColumns].join('\u0000');
}

function refuseTooLarge(file: ChangeFile): void {
  if (file.sizeBytes <= maxChangeFileBytes) return;
  throw serviceError.unsupported(
    'CDF_FILE_TOO_LARGE',
    `change file "${file.path}" has ${file.sizeBytes} bytes, at most ${maxChangeFileBytes} are read`,
    { hint: 'write smaller files, or start the feed again after this version' },
  );
}

async function readPresent(store: ObjectStore, request: ChangeFileRequest, signal: AbortSignal | undefined): Promise<Uint8Array> {
  const { file, changes } = request;
  try {
    return await store.read(file.path, signal);
  } catch (cause) {
    if (!isServiceError(cause, 'not-found')) throw cause;
    throw changesGone(request.location, changes.version, `file "${file.path}" is gone`, { cause });
  }
}

/** The rows of a file that are changes: without those deleted before, or the only ones that the version concerns. */
export function changedRows(batches: readonly ColumnBatch[], file: ChangeFile): readonly ColumnBatch[] {
  const { deletedRows, onlyRows } = file;
  if (deletedRows === undefined && onlyRows === undefined) return batches;
  const only = onlyRows === undefined ? undefined : new Positions(onlyRows);
  const deleted = deletedRows === undefined ? undefined : new Positions(deletedRows);
  let first = 0;
  return batches.map((batch) => {
    const kept = new Int32Array(batch.rowCount);
    let count = 0;
    for (let row = 0; row < batch.rowCount; row++) {
      const position = first + row;
      // Both are asked about every row: they only ever move forward.
      const isDeleted = deleted?.has(position) === true;
      if (only?.has(position) === false || isDeleted) continue;
      kept[count] = row;
      count++;
    }
    first += batch.rowCount;
    return count === batch.rowCount ? batch : takeRows(batch, kept.subarray(0, count));
  });
}

/** Ascending positions, asked about in ascending order. */
class Positions {
  readonly #positions: BigInt64Array;
  #next = 0;

  constructor(positions: BigInt64Array) {
    this.#positions = positions;
  }

  has(position: number): boolean {
    while (this.#next < this.#positions.length && Number(this.#positions[this.#next]) < position) this.#next++;
    return Number(this.#positions[this.#next] ?? -1n) === position;
  }
}
