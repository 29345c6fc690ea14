import { assert } from '../base/assert.ts';
import { bitAt } from '../schema/bitmap.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import { takeRows } from '../schema/take.ts';
import { type ChangeFileRequest, type ChangePiece, schemaInFile } from './change-file.ts';
import { ascending, deleteCode, preimageCode, readChangeCodes } from './change-order.ts';
import { pieceRows } from './piece-rows.ts';
import type { RowMatcher } from './row-matcher.ts';
import { RowSelection } from './row-selection.ts';

interface PiecesOf {
  readonly request: ChangeFileRequest;
  readonly matcher: RowMatcher;
}

/** The pieces of a file of inserts or deletes, whose batches are all its rows in their order. */
export async function* plainPieces(of: PiecesOf, batches: AsyncIterable<ColumnBatch>): AsyncGenerator<ChangePiece> {
  const { file } = of.request;
  const selection = new RowSelection(file);
  for await (const batch of batches) {
    const kept = selection.of(batch);
    if (kept.rowCount > 0) yield plainPiece(of, [kept]);
  }
}

/** Rows of a file of inserts or deletes that follow each other, all of them changes. */
export async function plainPiece(of: PiecesOf, batches: readonly ColumnBatch[]): Promise<ChangePiece> {
  const rowCount = batches.reduce((sum, batch) => sum + batch.rowCount, 0);
  const codes = new Uint8Array(rowCount);
  if (of.request.file.kind === 'delete') codes.fill(deleteCode);
  return { ...(await rowsOf(of, batches)), codes, order: ascending(rowCount), pairStarts: new Uint8Array(rowCount) };
}

/** The pieces of a recorded file in the order of its places. Batches have whether a row is one of a pair as their last column. */
export async function* recordedPieces(of: PiecesOf, batches: AsyncIterable<ColumnBatch>): AsyncGenerator<ChangePiece> {
  let carried: ColumnBatch | undefined;
  for await (const batch of batches) {
    const parts = carried === undefined ? [batch] : [carried, batch];
    const rowCount = parts.reduce((sum, part) => sum + part.rowCount, 0);
    const codes = new Uint8Array(rowCount);
    const pairStarts = new Uint8Array(rowCount);
    let start = 0;
    for (const part of parts) {
      readPart(of.request, part, { codes, pairStarts, start });
      start += part.rowCount;
    }
    // A pair whose other half is yet to come waits for it.
    const isTorn = pairStarts[rowCount - 1] === 1;
    carried = isTorn ? takeRows(batch, Int32Array.of(batch.rowCount - 1)) : undefined;
    const whole = isTorn ? rowCount - 1 : rowCount;
    if (whole > 0) yield { ...(await rowsOf(of, parts)), codes, order: ascending(whole), pairStarts: pairStarts.subarray(0, whole) };
  }
  assert(carried === undefined, 'both halves of a pair are in one phase');
}

function readPart(
  { file }: ChangeFileRequest,
  part: ColumnBatch,
  target: { readonly codes: Uint8Array; readonly pairStarts: Uint8Array; readonly start: number },
): void {
  const [changeType, paired] = part.columns.slice(-2);
  assert(changeType?.layout === 'bytes' && paired?.layout === 'boolean', 'the change type and the pairs are read as the last columns');
  const { codes, pairStarts, start } = target;
  readChangeCodes(changeType, { codes, start, path: file.path });
  for (let row = 0; row < part.rowCount; row++) {
    if (bitAt(paired.bits, row) && codes[start + row] === preimageCode) pairStarts[start + row] = 1;
  }
}

async function rowsOf({ request, matcher }: PiecesOf, read: readonly ColumnBatch[]): Promise<Pick<ChangePiece, 'rows' | 'matches'>> {
  const { changes, file, published = changes.schema } = request;
  const { fields } = schemaInFile(request);
  const batches = read.map((batch): ColumnBatch => ({ ...batch, schema: { kind: 'struct', fields } }));
  const rows = pieceRows({ schema: published, file, batches });
  return { rows, matches: await matcher.matches(request, batches) };
}
