import type { WriteRequest } from '../../table/row-operations.ts';
import type { DeltaSnapshot } from '../delta-snapshot.ts';

/** Files of an optimized write aim at this size. */
const defaultFileBytes: number = 512 << 20;

/** The size that files of a write aim at; `undefined`: as large as files become. The request counts more than the table's property. */
export function optimizedFileBytes(
  snapshot: DeltaSnapshot,
  request: Pick<WriteRequest, 'optimizeWrite' | 'optimizedFileBytes'>,
): number | undefined {
  const optimize = request.optimizeWrite ?? snapshot.settings.optimizeWrite ?? false;
  return optimize ? (request.optimizedFileBytes ?? defaultFileBytes) : undefined;
}
