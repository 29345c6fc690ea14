import type { SpreadPaths } from '../staged-file.ts';
import { murmur3 } from './murmur3.ts';

const hashBits = 20;
/** File systems take names of 255 bytes, object stores keys of 1,024: what the partition's part of a path may have. */
const maxDirectoryChars = 200;
const maxPartitionChars = 600;

/**
 * The path of a file below its root; `partitionPath` without slashes at its ends, URL-encoded, empty for unpartitioned tables. Directories
 * are for people: one that is too long for a file system is cut, and those that make a path too long for an object store are left out.
 */
export function dataFilePath(spread: SpreadPaths | undefined, partitionPath: string, name: string): string {
  const directories = storableDirectories(partitionPath);
  const path = directories === '' ? name : `${directories}/${name}`;
  if (spread === undefined) return path;
  const { context, partitioned } = spread;
  const kept = partitioned ? path : name;
  const hash = hashDirectories(kept);
  if (context !== '') return `${hash}/${context}/${kept}`;
  return partitioned ? `${hash}/${kept}` : `${hash}-${kept}`;
}

function storableDirectories(partitionPath: string): string {
  let length = 0;
  const kept: string[] = [];
  for (const directory of partitionPath.split('/')) {
    // Not within an escape such as %C3, nor within a character.
    const cut =
      directory.length <= maxDirectoryChars
        ? directory
        : directory.slice(0, maxDirectoryChars).replace(/(%[0-9A-F]?|[\uD800-\uDBFF])$/, '');
    length += cut.length + 1;
    if (length > maxPartitionChars) break;
    kept.push(cut);
  }
  return kept.join('/');
}

/** `0101/0010/1100/00111010` of a text. */
function hashDirectories(text: string): string {
  const bytes = Buffer.from(text);
  const bits = (murmur3(bytes, 0, bytes.length) >>> 0).toString(2).padStart(32, '0').slice(-hashBits);
  return [bits.slice(0, 4), bits.slice(4, 8), bits.slice(8, 12), bits.slice(12)].join('/');
}
