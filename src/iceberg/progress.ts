import { isJsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import { isServiceError } from '../base/errors.ts';
import { ancestorsOf, snapshotById } from './ancestry.ts';
import type { IcebergSnapshot, TableMetadata } from './metadata/table-metadata.ts';

/** Marks by writer. */
export type ProgressMap = ReadonlyMap<string, bigint>;

/**
 * The marks of all writers of the pipeline as one JSON value: in the summary of every snapshot of ours, and as a table property in the same
 * swap, for summaries go with their snapshots.
 */
export const progressKey = 'tidewater.progress';
/** Properties that hold the mark of one application's idempotent writes begin so; the rest of the key is its id. */
export const progressPrefix: string = `${progressKey}.`;

/** What marks are read from: the newest snapshot of a branch with its metadata. */
export interface ProgressSource {
  readonly metadata: TableMetadata;
  readonly snapshot: IcebergSnapshot | undefined;
}

/** The mark a writer has stored with its last commit. */
export function progressOf(source: ProgressSource, writerId: string): bigint | undefined {
  return resolvedProgress(source).get(writerId) ?? appMark(source.metadata, writerId);
}

/** The mark of an application's idempotent writes. */
export function appMark({ properties }: TableMetadata, appId: string): bigint | undefined {
  const key = progressPrefix + appId;
  return Object.hasOwn(properties, key) ? markOf(properties[key] ?? '') : undefined;
}

/** All marks of writers whose id starts with `prefix`. */
export function progressStartingWith(source: ProgressSource, prefix: string): ProgressMap {
  const marks = new Map<string, bigint>();
  for (const [key, text] of Object.entries(source.metadata.properties)) {
    const mark = key.startsWith(progressPrefix + prefix) ? markOf(text) : undefined;
    if (mark !== undefined) marks.set(key.slice(progressPrefix.length), mark);
  }
  for (const [writerId, mark] of resolvedProgress(source)) if (writerId.startsWith(prefix)) marks.set(writerId, mark);
  return marks;
}

/**
 * The pipeline's marks: those of the nearest ancestor that has them, so that a table that is rolled back rewinds; when none is left that
 * has, the property's.
 */
export function resolvedProgress(source: ProgressSource): ProgressMap {
  const { metadata, snapshot } = source;
  const known = resolved.get(metadata);
  if (known !== undefined && known.snapshot === snapshot) return known.marks;
  const marks = marksOfAncestors(source) ?? progressIn(metadata.properties) ?? noMarks;
  resolved.set(metadata, { snapshot, marks });
  return marks;
}

/** The marks among a snapshot's summary, or a table's properties; `undefined`: it has none. */
export function progressIn(entries: Readonly<Record<string, string>>): ProgressMap | undefined {
  return Object.hasOwn(entries, progressKey) ? parseProgress(entries[progressKey] ?? '') : undefined;
}

export function printProgress(marks: ProgressMap): string {
  return printJson(
    Object.fromEntries([...marks].toSorted(([left], [right]) => (left < right ? -1 : 1)).map(([id, mark]) => [id, String(mark)])),
  );
}

/** The marks a snapshot moved beyond those of the snapshots before it. */
export function movedProgress(metadata: TableMetadata, snapshot: IcebergSnapshot): ProgressMap {
  const marks = progressIn(snapshot.summary);
  if (marks === undefined) return noMarks;
  const parent = snapshot.parentSnapshotId === undefined ? undefined : snapshotById(metadata, snapshot.parentSnapshotId);
  const earlier = marksOfAncestors({ metadata, snapshot: parent }) ?? noMarks;
  return new Map([...marks].filter(([writerId, mark]) => earlier.get(writerId) !== mark));
}

function marksOfAncestors({ metadata, snapshot }: ProgressSource): ProgressMap | undefined {
  for (const ancestor of ancestorsOf(metadata, snapshot)) {
    const marks = progressIn(ancestor.summary);
    if (marks !== undefined) return marks;
  }
  return undefined;
}

const noMarks: ProgressMap = new Map();
/** Of the snapshot asked for last, which is nearly always the newest. */
const resolved = new WeakMap<TableMetadata, { readonly snapshot: IcebergSnapshot | undefined; readonly marks: ProgressMap }>();

/** What is no map of marks was not written by us and counts as none. */
function parseProgress(text: string): ProgressMap | undefined {
  try {
    const json = parseJson(text, progressKey);
    if (!isJsonObject(json)) return undefined;
    const marks = new Map<string, bigint>();
    for (const [writerId, value] of Object.entries(json)) {
      const mark = typeof value === 'string' ? markOf(value) : undefined;
      if (mark !== undefined) marks.set(writerId, mark);
    }
    return marks;
  } catch (error) {
    if (isServiceError(error)) return undefined;
    throw error;
  }
}

function markOf(text: string): bigint | undefined {
  return /^-?\d{1,20}$/.test(text) ? BigInt(text) : undefined;
}
