import type { ContentFile } from '../spec/content-file.ts';
import { positionDeleteIds } from '../spec/reserved-ids.ts';

/** Writers that cut bounds cut them to so many code points; what is longer was not cut. */
const cutCodePoints = 16;

/** The one data file a position delete file is about, by its bounds of the path column; `undefined`: there may be several. */
export function pathBoundOf({ lowerBounds, upperBounds }: ContentFile): string | undefined {
  const lower = lowerBounds?.get(positionDeleteIds.path);
  const upper = upperBounds?.get(positionDeleteIds.path);
  if (lower === undefined || upper === undefined || Buffer.compare(lower, upper) !== 0) return undefined;
  const path = Buffer.from(lower.buffer, lower.byteOffset, lower.byteLength).toString('utf8');
  return codePoints(path.slice(0, 2 * cutCodePoints + 1)) > cutCodePoints ? path : undefined;
}

function codePoints(text: string): number {
  return Array.from(text).length;
}
