import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The files of a table on disk by what they are. */
export interface TableFiles {
  readonly directory: string;
  readonly commits: readonly string[];
  readonly checkpoints: readonly string[];
  readonly sidecars: readonly string[];
  readonly checksums: readonly string[];
  readonly vectors: readonly string[];
  readonly data: readonly string[];
  readonly hasHint: boolean;
  /** Of the newest checkpoint; -1 without one. */
  readonly checkpointVersion: number;
  readonly firstCommit: number;
  readonly lastCommit: number;
}

/** Paths are relative to the directory. */
export function filesOf(directory: string): TableFiles {
  const all = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^\..*\.crc$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1))
    .sort();
  const matching = (pattern: RegExp): readonly string[] => all.filter((path) => pattern.test(path));
  const commits = matching(/^_delta_log\/\d{20}\.json$/);
  const checkpoints = matching(/^_delta_log\/\d{20}\.checkpoint\..*$/);
  const versions = commits.map(versionOf);
  return {
    directory,
    commits,
    checkpoints,
    sidecars: matching(/^_delta_log\/_sidecars\//),
    checksums: matching(/^_delta_log\/\d{20}\.crc$/),
    vectors: matching(/deletion_vector.*\.bin$/),
    data: all.filter((path) => path.endsWith('.parquet') && !path.startsWith('_')),
    hasHint: all.includes('_delta_log/_last_checkpoint'),
    checkpointVersion: Math.max(-1, ...checkpoints.map(versionOf)),
    firstCommit: Math.min(...versions),
    lastCommit: Math.max(...versions),
  };
}

export function versionOf(path: string): number {
  return Number(/(\d{20})\./.exec(path)?.[1] ?? Number.NaN);
}

/** A copy to damage. */
export function copyOf(files: TableFiles, directory: string): TableFiles {
  cpSync(files.directory, directory, { recursive: true });
  return { ...files, directory };
}

export function readBytes(files: TableFiles, path: string): Buffer {
  return readFileSync(join(files.directory, path));
}

export function writeBytes(files: TableFiles, path: string, bytes: Uint8Array | string): void {
  writeFileSync(join(files.directory, path), bytes);
}

/** The lines of a commit. */
export function linesOf(files: TableFiles, path: string): readonly string[] {
  return readBytes(files, path)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '');
}
