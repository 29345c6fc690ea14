import type { Dirent } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { throwIfAborted } from '../base/abort.ts';
import type { ObjectInfo } from './object-store.ts';
import { comparePaths } from './path.ts';

/** Names of files being written; never shown as objects. */
export const temporaryPrefix = '.tmp-';

/** Directories nest at most this deep. */
const maxDepth = 64;

interface ListOptions {
  readonly prefix: string;
  readonly startAfter?: string | undefined;
  /** The file that a symbolic link leads to; without it links are passed over. @throws for a link that may not be followed. */
  readonly follow?: ((path: string) => Promise<{ readonly size: number; readonly mtimeMs: number }>) | undefined;
}

/** Files below `root` in the order of their paths' UTF-8 bytes; temporary files are passed over. */
export async function* listFolder(root: string, options: ListOptions, signal: AbortSignal | undefined): AsyncIterable<ObjectInfo> {
  const folder = options.prefix.slice(0, options.prefix.lastIndexOf('/') + 1);
  if (folder.split('/').includes('..') || folder.startsWith('/')) return;
  yield* below(root, folder, options, signal, 0);
}

async function* below(
  root: string,
  folder: string,
  options: ListOptions,
  signal: AbortSignal | undefined,
  depth: number,
): AsyncIterable<ObjectInfo> {
  if (depth > maxDepth) return;
  for (const { path, entry } of await sortedEntries(root, folder)) {
    throwIfAborted(signal);
    if (entry.isDirectory()) {
      if (mayHold(path, options)) yield* below(root, path, options, signal, depth + 1);
      continue;
    }
    const follow = entry.isSymbolicLink() ? options.follow : undefined;
    if (!(entry.isFile() || follow !== undefined) || entry.name.startsWith(temporaryPrefix) || !path.startsWith(options.prefix)) continue;
    if (options.startAfter !== undefined && comparePaths(path, options.startAfter) <= 0) continue;
    const stat = follow === undefined ? await lstat(join(root, path)).catch(() => undefined) : await follow(path);
    if (stat !== undefined) yield objectInfo(path, stat);
  }
}

/** A file as an object. The parts of a millisecond tell writings apart that follow each other at once. */
export function objectInfo(path: string, { size, mtimeMs }: { readonly size: number; readonly mtimeMs: number }): ObjectInfo {
  return { path, sizeBytes: size, modifiedMs: Math.floor(mtimeMs), etag: String(mtimeMs) };
}

/** With a slash after directories the order of entries is the order of all paths below them. */
async function sortedEntries(root: string, folder: string): Promise<readonly { readonly path: string; readonly entry: Dirent }[]> {
  try {
    const entries = await readdir(join(root, folder), { withFileTypes: true });
    return entries
      .map((entry) => ({ entry, path: `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}` }))
      .sort((left, right) => comparePaths(left.path, right.path));
  } catch (error) {
    // A directory that is not there, or went away, holds nothing.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
    throw error;
  }
}

function mayHold(directory: string, options: ListOptions): boolean {
  if (!directory.startsWith(options.prefix) && !options.prefix.startsWith(directory)) return false;
  if (options.startAfter === undefined || options.startAfter.startsWith(directory)) return true;
  return comparePaths(directory, options.startAfter) > 0;
}
