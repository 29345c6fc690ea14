import { type ServiceError, serviceError } from '../../base/errors.ts';

/** First word of a bitmap without run containers; the number of containers follows, and offsets are always there. */
export const plainCookie = 12_346;
/** Lower half of the first word of a bitmap that has run containers; the upper half is the number of containers less one. */
export const runCookie = 12_347;
/** A bitmap with run containers has offsets from so many containers on. */
export const minContainersWithOffsets = 4;
/** Arrays hold at most so many values; larger containers without runs are bitmaps. */
export const maxArrayValues = 4096;
export const bitmapBytes = 8192;
export const containerValues = 65_536;

export function bitmapCorrupt(what: string): ServiceError {
  return serviceError.corrupt('ROARING_BITMAP_CORRUPT', `roaring bitmap: ${what}`, {
    hint: 'the bitmap is damaged; restore its file from a copy',
  });
}
