import type { ByteSource } from '../streams/byte-source.ts';
import { addLong, type LongWords, readVarint, unzigzag } from './long-words.ts';

/** Reads one run of version 1 (at most 130 values) to the front of `run` and returns its length. */
export function readRunV1(source: ByteSource, run: LongWords, signed: boolean): number {
  const control = source.byte();
  if (control >= 0x80) {
    const count = 0x100 - control;
    for (let index = 0; index < count; index++) readVarint(source, run, index);
    if (signed) unzigzag(run, 0, count);
    return count;
  }
  const count = control + 3;
  const delta = (source.byte() << 24) >> 24;
  readVarint(source, run, 0);
  if (signed) unzigzag(run, 0, 1);
  for (let index = 1; index < count; index++) addLong(run, index, index - 1, delta, delta >> 31);
  return count;
}
