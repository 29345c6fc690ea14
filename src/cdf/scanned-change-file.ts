import { assert } from '../base/assert.ts';
import { type Engine, scanColumns } from '../engine/engine.ts';
import { quoteName } from '../expr/sql/engine-text.ts';
import type { Field, StructType } from '../schema/types.ts';
import type { ObjectStore } from '../storage/object-store.ts';
import type { HeldRelation, Relation } from '../table/relation.ts';
import {
  type ChangeFileRequest,
  type ChangePiece,
  checkCount,
  type OpenChangeFile,
  type PhaseCounts,
  schemaInFile,
} from './change-file.ts';
import { changeFileScan } from './change-file-scan.ts';
import { PieceCursor } from './piece-cursor.ts';
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
      const counts = await plainCounts(request, engine, scan);
      return new ScannedChangeFile({
        counts,
        close,
        pieces: () => plainPieces({ request, matcher }, engine.read(inFileOrder(request, scan))),
      });
    }
    const places = await engine.materialize(placesSql(request, scan), signal);
    held.push(places);
    const pieces = (phase: Phase): AsyncGenerator<ChangePiece> =>
      recordedPieces({ request, matcher }, engine.read(inOrderOfPlaces(request, { scan, places, phase })));
    return new ScannedChangeFile({ counts: await placedCounts(engine, places), close, pieces });
  } catch (error) {
    await close();
    throw error;
  }
}

class ScannedChangeFile implements OpenChangeFile {
  readonly counts: PhaseCounts;
  readonly #pieces: (phase: Phase) => AsyncGenerator<ChangePiece>;
  readonly #close: () => Promise<void>;
  #reading: { readonly phase: Phase; readonly cursor: PieceCursor } | undefined;

  constructor(parts: {
    readonly counts: PhaseCounts;
    readonly pieces: (phase: Phase) => AsyncGenerator<ChangePiece>;
    readonly close: () => Promise<void>;
  }) {
    this.counts = parts.counts;
    this.#pieces = parts.pieces;
    this.#close = parts.close;
  }

  async pieceAt(phase: Phase, position: number): Promise<ChangePiece> {
    let reading = this.#reading;
    if (reading?.phase !== phase || reading.cursor.position > position) {
      await this.#end();
      reading = { phase, cursor: new PieceCursor(this.#pieces(phase)) };
      this.#reading = reading;
    }
    try {
      return await reading.cursor.at(position);
    } catch (error) {
      await this.#end();
      throw error;
    }
  }

  async close(): Promise<void> {
    await this.#end();
    await this.#close();
  }

  async #end(): Promise<void> {
    const reading = this.#reading;
    this.#reading = undefined;
    await reading?.cursor.close();
  }
}

async function plainCounts(request: ChangeFileRequest, engine: Engine, scan: Relation): Promise<PhaseCounts> {
  const { file } = request;
  const stored = await countOf(engine, `SELECT count(*) FROM (${scan.sql})`);
  const count = file.onlyRows?.length ?? stored - (file.deletedRows?.length ?? 0);
  checkCount(request, count);
  return file.kind === 'insert' ? { removals: 0, additions: count } : { removals: count, additions: 0 };
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
