import { toVersion, type Version } from '../../table/version.ts';

export const logFolder: string = '_delta_log/';
export const lastCheckpointPath: string = `${logFolder}_last_checkpoint`;

/** Files that V2 checkpoints refer to. */
export const sidecarFolder: string = `${logFolder}_sidecars/`;

/** What the name of an object in the log folder says. Names that are none of these are somebody else's. */
export type LogName =
  | { readonly kind: 'commit'; readonly version: Version }
  | { readonly kind: 'checksum'; readonly version: Version }
  | { readonly kind: 'compacted'; readonly version: Version; readonly until: Version }
  | { readonly kind: 'checkpoint'; readonly version: Version; readonly parts: 1 }
  | { readonly kind: 'checkpoint-part'; readonly version: Version; readonly part: number; readonly parts: number }
  | { readonly kind: 'checkpoint-v2'; readonly version: Version; readonly encoding: 'json' | 'parquet' }
  /** A commit or a checkpoint of a version that a double does not hold exactly. */
  | { readonly kind: 'out-of-range' };

export function commitPath(version: number): string {
  return `${logFolder}${padded(version)}.json`;
}

export function checksumPath(version: number): string {
  return `${logFolder}${padded(version)}.crc`;
}

export function checkpointPath(version: number): string {
  return `${logFolder}${padded(version)}.checkpoint.parquet`;
}

/** The summary of the commits `from` to `until`, both included. */
export function compactedPath(from: number, until: number): string {
  return `${logFolder}${padded(from)}.${padded(until)}.compacted.json`;
}

/** A V2 checkpoint of a name of its own, in JSON. */
export function v2CheckpointPath(version: number, uuid: string): string {
  return `${logFolder}${padded(version)}.checkpoint.${uuid}.json`;
}

/** The greatest path that sorts before everything of `version`. */
export function pathBefore(version: number): string {
  return `${logFolder}${padded(Math.max(0, version))}`;
}

/** The name of the checksum file Hadoop keeps beside an object on a local file system. */
export function hadoopChecksumPath(path: string): string {
  const slash = path.lastIndexOf('/') + 1;
  return `${path.slice(0, slash)}.${path.slice(slash)}.crc`;
}

const pattern =
  /^_delta_log\/(\d{20})\.(?:(json)|(crc)|(\d{20})\.compacted\.json|checkpoint\.(?:(parquet)|(\d{10})\.(\d{10})\.parquet|[0-9a-f-]{36}\.(json|parquet)))$/i;

export function parseLogName(path: string): LogName | undefined {
  const match = pattern.exec(path);
  const version = Number(match?.[1]);
  if (match === null) return undefined;
  if (!Number.isSafeInteger(version)) return match[3] === undefined && match[4] === undefined ? { kind: 'out-of-range' } : undefined;
  const base = { version: toVersion(version) };
  if (match[2] !== undefined) return { kind: 'commit', ...base };
  if (match[3] !== undefined) return { kind: 'checksum', ...base };
  if (match[4] !== undefined) return { kind: 'compacted', ...base, until: toVersion(Number(match[4])) };
  if (match[5] !== undefined) return { kind: 'checkpoint', ...base, parts: 1 };
  if (match[6] !== undefined) return { kind: 'checkpoint-part', ...base, part: Number(match[6]), parts: Number(match[7]) };
  return { kind: 'checkpoint-v2', ...base, encoding: match[8]?.toLowerCase() === 'json' ? 'json' : 'parquet' };
}

function padded(version: number): string {
  return String(version).padStart(20, '0');
}
