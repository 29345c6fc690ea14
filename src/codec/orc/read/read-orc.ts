import { assert } from '../../../base/assert.ts';
import type { Column, ColumnBatch } from '../../../schema/columns.ts';
import type { StructType } from '../../../schema/types.ts';
import { corruptOrc } from '../orc-errors.ts';
import type { StripeInformation } from '../proto/tail.ts';
import { type NameToId, planStruct, type StructPlan } from '../schema/column-plan.ts';
import { plainBytes } from '../streams/chunks.ts';
import { openStructMembers } from './open-reader.ts';
import { footerReach, type OrcTail, parseTail, tailGuessBytes } from './orc-tail.ts';
import { openStripe } from './stripe.ts';

/** An ORC file held in memory. */
export interface OrcFile extends OrcTail {
  readonly bytes: Uint8Array;
}

/** An ORC file of which ranges can be fetched. The caller's `read` honours the caller's signal. */
export interface OrcSource {
  /** What errors call the file. */
  readonly name: string;
  /** Bytes of the whole file. */
  readonly byteCount: number;
  readonly read: (range: { readonly from: number; readonly until: number }) => Promise<Uint8Array>;
}

export interface OpenedOrcFile extends OrcTail {
  readonly source: OrcSource;
}

export interface ReadOrcOptions {
  /** What to read: fields are found by id, also within structs, lists and maps; a field that the file lacks is null. */
  readonly schema: StructType;
  /**
   * For files without ids: the id of a column by its names from the root (`element`, `key` and `value` within lists and maps); `undefined`
   * leaves the column out. Without it the names of `schema` are taken.
   */
  readonly nameToId?: NameToId | undefined;
  /** Told each id of `schema` that the file lacks, of a struct only the struct's own; once, before the first batch. */
  readonly absent?: ((id: number) => void) | undefined;
  /** The most rows of a batch. */
  readonly batchRows?: number | undefined;
}

const defaultBatchRows = 16_384;

/**
 * Opens a file held in memory; only its end is looked at.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_FEATURE_UNSUPPORTED` (kind unsupported).
 */
export function readOrcFile(bytes: Uint8Array, options: { readonly name: string }): OrcFile {
  const plain = plainBytes(bytes);
  return { ...parseTail({ name: options.name, tail: plain, fileBytes: bytes.length }), bytes: plain };
}

/**
 * The rows in the order of the file, in batches of `schema`. Int is widened to long, float to double, a decimal to one with more digits,
 * a date to timestamp_ntz.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_TYPE_MISMATCH` (kind unsupported) when a column cannot become its field;
 * `ORC_FEATURE_UNSUPPORTED` (kind unsupported) for a union that a field asks for, or a time zone that is unknown.
 */
export function* readOrcRows(file: OrcFile, options: ReadOrcOptions): Generator<ColumnBatch, void, undefined> {
  const plan = planOf(file, options);
  for (const [index, stripe] of file.stripes.entries()) {
    const { from, until } = rangeOf(stripe);
    yield* stripeBatches(file, index, file.bytes.subarray(from, until), plan, options);
  }
}

/**
 * Opens a file by fetching its end.
 *
 * @throws ServiceError as `readOrcFile`, and what the source throws.
 */
export async function openOrcFile(source: OrcSource): Promise<OpenedOrcFile> {
  const { name, byteCount: fileBytes } = source;
  const fetchTail = (count: number): Promise<Uint8Array> => fetchRange(source, { from: Math.max(0, fileBytes - count), until: fileBytes });
  const guess = await fetchTail(tailGuessBytes);
  const reach = Math.min(footerReach({ name, tail: guess, fileBytes }), fileBytes);
  const tail = reach <= guess.length ? guess : await fetchTail(reach);
  return { ...parseTail({ name, tail, fileBytes }), source };
}

/** As `readOrcRows`, fetching one stripe after the other. */
export async function* streamOrcRows(file: OpenedOrcFile, options: ReadOrcOptions): AsyncGenerator<ColumnBatch, void, undefined> {
  const plan = planOf(file, options);
  for (const [index, stripe] of file.stripes.entries()) {
    yield* stripeBatches(file, index, await fetchRange(file.source, rangeOf(stripe)), plan, options);
  }
}

function planOf(file: OrcTail, options: ReadOrcOptions): StructPlan {
  const absent = options.absent ?? (() => undefined);
  return planStruct(file.schema, options.schema, { place: `orc file "${file.name}"`, nameToId: options.nameToId, absent });
}

async function fetchRange(source: OrcSource, range: { readonly from: number; readonly until: number }): Promise<Uint8Array> {
  const bytes = plainBytes(await source.read(range));
  const wanted = range.until - range.from;
  if (bytes.length !== wanted) {
    throw corruptOrc(`orc file "${source.name}"`, `${bytes.length} of the bytes [${range.from}, ${range.until}) are there`);
  }
  return bytes;
}

function rangeOf(stripe: StripeInformation): { readonly from: number; readonly until: number } {
  return { from: stripe.offset, until: stripe.offset + stripe.indexBytes + stripe.dataBytes + stripe.footerBytes };
}

function* stripeBatches(
  file: OrcTail,
  index: number,
  bytes: Uint8Array,
  plan: StructPlan,
  options: ReadOrcOptions,
): Generator<ColumnBatch, void, undefined> {
  const information = file.stripes[index];
  if (information === undefined || information.rowCount === 0) return;
  const stripe = openStripe(bytes, information, file.chunking, `orc file "${file.name}", stripe ${index}`);
  const readers = openStructMembers(stripe, plan);
  const batchRows = options.batchRows ?? defaultBatchRows;
  assert(batchRows >= 1, `batches of ${batchRows} rows`);
  for (let done = 0; done < information.rowCount; done += batchRows) {
    const rowCount = Math.min(batchRows, information.rowCount - done);
    const columns: readonly Column[] = readers.map((reader) => reader.read(rowCount, undefined));
    yield { schema: options.schema, rowCount, columns };
  }
}
