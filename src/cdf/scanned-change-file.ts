import { assert } from '../base/assert.ts';
import { type Engine, scanColumns } from '../engine/engine.ts';
import { quoteName } from '../expr/sql/engine-text.ts';
import type { ColumnBatch } from '../schema/columns.ts';
import type { Field, StructType } from '../schema/types.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { HeldRelation, Relation } from '../table/relation.ts';
import {
  type ChangeFileRequest,
  type ChangePiece,
  type OpenChangeFile,
  type PhaseCounts,
  plainCounts,
  schemaInFile,
} from './change-file.ts';
import { changeFileScan } from './change-file-scan.ts';
import { PiecedChangeFile } from './pieced-change-file.ts';
import { plainPieces, recordedPieces } from './pieces.ts';
import type { RowMatcher } from './row-matcher.ts';
import { keyPositions } from './row-writers.ts';
import { placeNames, placesSql } from './scanned-order.ts';
import type { Phase } from './version-segments.ts';

const rowPosition: Field = { name: scanColumns.rowPosition, type: { kind: 'long' }, nullable: false };
const isPaired: Field = { name: placeNames.paired, type: { kind: 'boolean' }, nullable: false };

/**
 * A change file read by the engine, whatever its size and however it holds the columns: a piece of it is in memory, and what is sorted lies
 * on disk where it is large.
 */
export async function scannedChangeFile(
  request: ChangeFileRequest,
  { engine, store, matcher }: { readonly engine: Engine; readonly store: ObjectStore; readonly matcher: RowMatcher },
  signal: AbortSignal | undefined,
): Promise<OpenChangeFile> {
  keyPositions(request.changes.schema, request.keyColumns);
  const held: HeldRelation[] = [];
  const close = async (): Promise<void> => {
    for (const relation of held.splice(0).toReversed()) await relation.dispose();
  };
  try {
    const scan = await engine.scan(changeFileScan(request, store), { withPositions: true }, signal);
    held.push(scan);
    if (request.file.kind !== 'recorded') {
      const counts = plainCounts(request, await countOf(engine, `SELECT count(*) FROM (${scan.sql})`));
      const batches = (): AsyncIterable<ColumnBatch> => inOrderOfFile(engine.read(inFileOrder(request, scan)));
      return new PiecedChangeFile({ counts, close, pieces: () => plainPieces({ request, matcher }, batches()) });
    }
    const places = await engine.materialize(placesSql(request, scan), signal);
    held.push(places);
    const pieces = (phase: Phase): AsyncGenerator<ChangePiece> =>
      recordedPieces({ request, matcher }, engine.read(inOrderOfPlaces(request, { scan, places, phase })));
    return new PiecedChangeFile({ counts: await placedCounts(engine, places), close, pieces });
  } catch (error) {
    await close();
    throw error;
  }
}

async function placedCounts(engine: Engine, places: Relation): Promise<PhaseCounts> {
  const count = (removal: boolean): Promise<number> =>
    countOf(engine, `SELECT count(*) FROM (${places.sql}) WHERE ${placeNames.removal} = ${removal}`);
  return { removals: await count(true), additions: await count(false) };
}

async function countOf(engine: Engine, sql: string): Promise<number> {
  const [[count] = []] = await engine.rows(sql);
  assert(typeof count === 'bigint', 'a count is a number');
  return Number(count);
}

/** The rows as they stand in the file, with their places: the engine does not change the order of one file's rows. */
function inFileOrder(request: ChangeFileRequest, scan: Relation): Relation {
  const schema = withLast(schemaInFile(request), rowPosition);
  return { schema, sql: `SELECT ${namesOf(schema)} FROM (${scan.sql}) AS s` };
}

function inOrderOfPlaces(
  request: ChangeFileRequest,
  { scan, places, phase }: { readonly scan: Relation; readonly places: Relation; readonly phase: Phase },
): Relation {
  const schema = schemaInFile(request);
  const { position, removal, place, code, paired } = placeNames;
  return {
    schema: withLast(schema, isPaired),
    sql:
      `SELECT ${namesOf(schema)}, p.${paired} FROM (${scan.sql}) AS s JOIN (${places.sql}) AS p ON s.${scanColumns.rowPosition} = p.${position} ` +
      `WHERE p.${removal} = ${phase === 'removals'} ORDER BY p.${place}, p.${code}`,
  };
}

function withLast(schema: StructType, field: Field): StructType {
  return { kind: 'struct', fields: [...schema.fields, field] };
}

function namesOf({ fields }: StructType): string {
  return fields.map(({ name }) => `s.${quoteName(name)}`).join(', ');
}

/** What is published must be in the order of the file, each time: the engine is taken at its word, and caught when it breaks it. */
async function* inOrderOfFile(batches: AsyncIterable<ColumnBatch>): AsyncGenerator<ColumnBatch> {
  let first = 0;
  for await (const batch of batches) {
    const positions = batch.columns.at(-1);
    assert(positions?.layout === 'fixed' && positions.values instanceof BigInt64Array, 'positions are read as the last column');
    for (let row = 0; row < batch.rowCount; row++)
      assert(Number(positions.values[row]) === first + row, 'the engine reads a file in its order');
    first += batch.rowCount;
    yield batch;
  }
}
