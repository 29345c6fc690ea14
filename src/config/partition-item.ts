import { serviceError } from '../base/errors.ts';
import { namedTransform, type PartitionFieldDefinition } from '../table/partitioning/transform.ts';
import type { WriteOrderKey } from '../table/partitioning/write-order.ts';

const plain = /^[\p{L}_][\p{L}\p{N}_.]*$/u;
const called = /^([A-Za-z_]+)\s*\(\s*(?:(\d{1,10})\s*,\s*)?([\p{L}_][\p{L}\p{N}_.]*)\s*\)$/u;

/**
 * Reads an item of a table's partitioning: `origin`, `day(ts)`, `bucket(16, id)`, `truncate(4, city)`, `hour(event.at)`.
 *
 * @throws ServiceError `PARTITION_TRANSFORM_UNKNOWN` (kind invalid).
 */
export function parsePartitionText(text: string): PartitionFieldDefinition {
  const trimmed = text.trim();
  if (plain.test(trimmed)) return { source: trimmed.split('.'), transform: { kind: 'identity' } };
  const [, name, parameter, source] = called.exec(trimmed) ?? [];
  if (name !== undefined && source !== undefined) {
    return { source: source.split('.'), transform: namedTransform(name, parameter === undefined ? undefined : Number(parameter)) };
  }
  throw serviceError.invalid('PARTITION_TRANSFORM_UNKNOWN', `"${text}" is no item of a partitioning`, {
    hint: 'write a column, bucket(n, c), truncate(n, c), year(c), month(c), day(c) or hour(c)',
  });
}

const ordered = /^(.*?)(?:\s+(asc|desc))?(?:\s+nulls\s+(first|last))?$/isu;

/**
 * Reads a key of a table's sort order: an item as above, with `ASC` or `DESC` and `NULLS FIRST` or `NULLS LAST`; nulls are least unless it says so.
 *
 * @throws ServiceError as `parsePartitionText`.
 */
export function parseSortText(text: string): WriteOrderKey {
  const [, item = '', direction, nulls] = ordered.exec(text.trim()) ?? [];
  const { source, transform } = parsePartitionText(item);
  const descending = direction?.toLowerCase() === 'desc';
  return { source, transform, descending, nullsFirst: nulls === undefined ? !descending : nulls.toLowerCase() === 'first' };
}
