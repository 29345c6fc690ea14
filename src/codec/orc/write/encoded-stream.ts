import type { StreamKind } from '../proto/numbers.ts';
import { encodeBits } from '../rle/bits.ts';
import { encodeBytes } from '../rle/byte-rle.ts';
import { encodeLongs } from '../rle/encode-longs.ts';
import type { LongWords } from '../rle/long-words.ts';
import { ByteSink } from '../streams/byte-sink.ts';

/** A stream of a stripe before it is packed, and where each group of rows begins in it. */
export interface EncodedStream {
  readonly kind: StreamKind;
  readonly bytes: Uint8Array;
  readonly starts: readonly StreamStart[];
}

/** A place in a stream: a byte, and within what is encoded there the numbers that a reader passes over (ORC spec: Row Index). */
export interface StreamStart {
  readonly byte: number;
  readonly within: readonly number[];
}

// Runs are ended before each group of rows, so nothing of a run is passed over.
const ofRuns: readonly number[] = [0];

export function longStream(kind: StreamKind, words: LongWords, groups: Int32Array, signed: boolean): EncodedStream {
  return groupedStream(kind, groups, ofRuns, (sink, from, until) => {
    encodeLongs(sink, words, { from, until }, signed);
  });
}

export function byteStream(kind: StreamKind, bytes: Uint8Array, groups: Int32Array): EncodedStream {
  return groupedStream(kind, groups, ofRuns, (sink, from, until) => {
    encodeBytes(sink, bytes, from, until);
  });
}

/** `append` writes the values `[from, until)` of a group as they stand. */
export function plainStream(
  kind: StreamKind,
  groups: Int32Array,
  append: (sink: ByteSink, from: number, until: number) => void,
): EncodedStream {
  return groupedStream(kind, groups, [], append);
}

export function bitStream(kind: StreamKind, bits: Uint8Array, groups: Int32Array): EncodedStream {
  const sink = new ByteSink();
  const starts: StreamStart[] = [];
  const count = groups.at(-1) ?? 0;
  encodeBits(sink, bits, count, groups.subarray(0, -1), (bitsOfNextByte) => {
    starts.push({ byte: sink.length, within: [0, bitsOfNextByte] });
  });
  return { kind, bytes: sink.written(), starts };
}

function groupedStream(
  kind: StreamKind,
  groups: Int32Array,
  within: readonly number[],
  append: (sink: ByteSink, from: number, until: number) => void,
): EncodedStream {
  const sink = new ByteSink();
  const starts: StreamStart[] = [];
  for (let group = 0; group + 1 < groups.length; group++) {
    starts.push({ byte: sink.length, within });
    append(sink, groups[group] ?? 0, groups[group + 1] ?? 0);
  }
  return { kind, bytes: sink.written(), starts };
}
