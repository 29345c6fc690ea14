import { assert } from '../base/assert.ts';
import { readParquet } from '../codec/parquet/read-parquet.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import { type ChangeFileRequest, checkCount, type OpenChangeFile, pieceFrom, schemaInFile } from './change-file.ts';
import { type ChangeOrder, readChangeCodes, recordedOrder } from './change-order.ts';
import { jsonRows } from './encoding/json-rows.ts';
import { RecordBuffer } from './encoding/record-buffer.ts';
import { type PieceRows, pieceRows } from './piece-rows.ts';
import type { RowMatcher } from './row-matcher.ts';
import { RowSelection } from './row-selection.ts';
import { RowWriters } from './row-writers.ts';

const noPairs = new Uint8Array(0);

/** A recorded change file held in memory as a whole: its rows are published in an order of their own. */
export async function heldChangeFile(
  request: ChangeFileRequest,
  { store, matcher }: { readonly store: ObjectStore; readonly matcher: RowMatcher },
  signal: AbortSignal | undefined,
): Promise<OpenChangeFile> {
  const { changes, file, published = changes.schema } = request;
  const stored = await readParquet(await store.read(file.path, signal), { schema: schemaInFile(request) });
  const selection = new RowSelection(file);
  const batches = stored.batches.map((batch) => selection.of(batch));
  const rows = pieceRows({ schema: published, file, batches });
  checkCount(request, rows.rowCount);
  const codes = codesOf(request, batches, rows.rowCount);
  const order = orderOf(request, rows, codes);
  const matches = await matcher.matches(request, batches);
  const { removals, additions, pairStarts } = order;
  return {
    counts: { removals: removals.length, additions: additions.length },
    pieceAt: (phase, position) => {
      const ofPhase = phase === 'removals' ? { order: removals, pairStarts: noPairs } : { order: additions, pairStarts };
      return Promise.resolve(pieceFrom({ rows, codes, matches, ...ofPhase }, position));
    },
    close: () => Promise.resolve(),
  };
}

function codesOf({ file }: ChangeFileRequest, batches: readonly ColumnBatch[], rowCount: number): Uint8Array {
  const codes = new Uint8Array(rowCount);
  let start = 0;
  for (const batch of batches) {
    const column = batch.columns.at(-1);
    assert(column?.layout === 'bytes', 'the change type is read as the last column');
    readChangeCodes(column, { codes, start, path: file.path });
    start += batch.rowCount;
  }
  return codes;
}

function orderOf({ keyColumns }: ChangeFileRequest, rows: PieceRows, codes: Uint8Array): ChangeOrder {
  return recordedOrder(codes, keyColumns.length === 0 ? undefined : keyText(rows, keyColumns));
}

function keyText(rows: PieceRows, keyColumns: readonly string[]): (row: number) => string {
  const key = new RecordBuffer();
  const writers = new RowWriters(rows, jsonRows(keyColumns));
  return (row) => {
    key.clear();
    writers.key(key, row);
    return key.text();
  };
}
