import { printTransform, type Transform } from './transform.ts';

/** One key of the order in which a table asks for rows to be written. */
export interface WriteOrderKey {
  readonly source: readonly string[];
  readonly transform: Transform;
  readonly descending: boolean;
  readonly nullsFirst: boolean;
}

/** As Iceberg describes such an order: `id ASC NULLS FIRST, bucket(16, id) DESC NULLS LAST`. */
export function printWriteOrder(keys: readonly (Omit<WriteOrderKey, 'source'> & { readonly column: string })[]): string {
  const texts = keys.map(({ column, transform, descending, nullsFirst }) => {
    // Of this transform alone Iceberg names the column first.
    const term = transform.kind === 'truncate' ? `truncate(${column}, ${transform.width})` : transformText(transform, column);
    return `${term} ${descending ? 'DESC' : 'ASC'} NULLS ${nullsFirst ? 'FIRST' : 'LAST'}`;
  });
  return texts.join(', ');
}

/** As SHOW CREATE TABLE writes a transform: `id`, `bucket(16, id)`, `truncate(4, s)`, `days(ts)`. */
export function transformText(transform: Transform, column: string): string {
  switch (transform.kind) {
    case 'identity':
      return column;
    case 'bucket':
      return `bucket(${transform.count}, ${column})`;
    case 'truncate':
      return `truncate(${transform.width}, ${column})`;
    case 'year':
    case 'month':
    case 'day':
    case 'hour':
      return `${transform.kind}s(${column})`;
    default:
      return `${printTransform(transform)}(${column})`;
  }
}
