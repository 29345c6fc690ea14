import type { PartitionValues } from './staged-file.ts';

/** Directory names may be this long; most file systems allow 255 bytes. */
const maxSegmentBytes = 200;
const nullSegment = '__HIVE_DEFAULT_PARTITION__';

/**
 * The directory of a partition, `a=1/b=x/`, escaped as Hive does, or the empty string without partition columns. No reader takes values
 * from it, so that values too long for a directory name are cut.
 */
export function partitionDirectory(partitionColumns: readonly string[], values: PartitionValues): string {
  return partitionColumns.map((name) => `${cut(`${hiveEscape(name)}=${hiveEscape(values[name] ?? nullSegment)}`)}/`).join('');
}

const hiveEscaped = /[\u0000-\u001f"#%'*/:=?\\{[\]^\u007f]/g;

function hiveEscape(text: string): string {
  return text.replace(hiveEscaped, (character) => `%${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(2, '0')}`);
}

function cut(segment: string): string {
  if (Buffer.byteLength(segment) <= maxSegmentBytes) return segment;
  let kept = '';
  let byteCount = 0;
  for (const character of segment) {
    byteCount += Buffer.byteLength(character);
    if (byteCount > maxSegmentBytes) break;
    kept += character;
  }
  return kept;
}
