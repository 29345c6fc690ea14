/**
 * How many bytes an LZ4 frame unpacks to, without unpacking it: the literal and match lengths of every sequence are added up. Stops
 * as soon as the sum passes `enough`. A frame that is cut or malformed gives what was counted so far; the decoder complains about it.
 */
export function lz4FrameSize(frame: Uint8Array, enough: number): number {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  if (frame.length < 7) return 0;
  const flags = view.getUint8(4);
  const hasBlockChecksum = (flags & 0x10) !== 0;
  const hasContentSize = (flags & 0x08) !== 0;
  const hasDictionaryId = (flags & 0x01) !== 0;
  let at = 7 + (hasContentSize ? 8 : 0) + (hasDictionaryId ? 4 : 0);
  let size = 0;
  while (at + 4 <= frame.length && size <= enough) {
    const word = view.getUint32(at, true);
    if (word === 0) break;
    const stored = word >= 0x8000_0000;
    const start = at + 4;
    const end = Math.min(frame.length, start + (word & 0x7fff_ffff));
    size += stored ? end - start : blockSize(frame, start, end);
    at = end + (hasBlockChecksum ? 4 : 0);
  }
  return size;
}

const minMatch = 4;

/** Sequences of a block: token, literal length, literals, two bytes of match offset, match length. The last has literals only. */
function blockSize(frame: Uint8Array, from: number, until: number): number {
  let at = from;
  let size = 0;
  while (at < until) {
    const token = frame[at] ?? 0;
    at += 1;
    let literals = token >>> 4;
    if (literals === 15) {
      let more = 255;
      while (more === 255 && at < until) {
        more = frame[at] ?? 0;
        literals += more;
        at += 1;
      }
    }
    at += literals;
    size += literals;
    if (at >= until) break;
    at += 2;
    let match = token & 15;
    if (match === 15) {
      let more = 255;
      while (more === 255 && at < until) {
        more = frame[at] ?? 0;
        match += more;
        at += 1;
      }
    }
    size += match + minMatch;
  }
  return size;
}
