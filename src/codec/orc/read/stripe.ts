import type { Range } from '../../../schema/slice.ts';
import { corruptOrc } from '../orc-errors.ts';
import { encodingKind, type StreamKind, streamKind } from '../proto/numbers.ts';
import { parseStripeFooter, type StreamInformation, type StripeFooter } from '../proto/stripe-footer.ts';
import type { StripeInformation } from '../proto/tail.ts';
import { LongDecoder } from '../rle/long-decoder.ts';
import type { OrcType } from '../schema/orc-type.ts';
import { ByteSource } from '../streams/byte-source.ts';
import { type Chunking, unpackChunks } from '../streams/chunks.ts';

/** The streams of a stripe, unpacked when they are asked for. */
export interface Stripe {
  /** File and stripe, for errors. */
  readonly place: string;
  readonly timeZone: string | undefined;
  /** A stream of a column; `undefined` when the stripe has none. */
  readonly stream: (orc: OrcType, kind: StreamKind) => ByteSource | undefined;
  readonly encoding: (orc: OrcType) => { readonly dictionary: boolean; readonly version: 1 | 2; readonly dictionarySize: number };
}

const streamNames: ReadonlyMap<number, string> = new Map(Object.entries(streamKind).map(([name, kind]) => [kind, name]));

/** @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt) when the footer of the stripe does not fit it. */
export function openStripe(bytes: Uint8Array, information: StripeInformation, chunking: Chunking, place: string): Stripe {
  const footerAt = bytes.length - information.footerBytes;
  const footer = parseStripeFooter(unpackChunks(bytes.subarray(footerAt), chunking, `${place}, footer`), `${place}, footer`);
  const found = locateStreams(footer, footerAt, place);
  return {
    place,
    timeZone: footer.timeZone,
    stream: (orc, kind) => {
      const range = found.get(streamKey(orc.column, kind));
      if (range === undefined) return undefined;
      const where = `${place}, column ${orc.column} "${orc.path}", ${streamNames.get(kind) ?? ''}`;
      return new ByteSource(unpackChunks(bytes.subarray(range.from, range.until), chunking, where), where);
    },
    encoding: (orc) => {
      const encoding = footer.encodings[orc.column];
      if (encoding === undefined) throw corruptOrc(place, `column ${orc.column} "${orc.path}" has no encoding`);
      const { kind, dictionarySize } = encoding;
      return {
        dictionary: kind === encodingKind.dictionary || kind === encodingKind.dictionaryV2,
        version: kind === encodingKind.directV2 || kind === encodingKind.dictionaryV2 ? 2 : 1,
        dictionarySize,
      };
    },
  };
}

/** A stream that the column must have; without bytes when the stripe has none, so that only a value in it is missed. */
export function streamOf(stripe: Stripe, orc: OrcType, kind: StreamKind): ByteSource {
  return (
    stripe.stream(orc, kind) ??
    new ByteSource(new Uint8Array(0), `${stripe.place}, column ${orc.column} "${orc.path}", missing stream ${streamNames.get(kind) ?? ''}`)
  );
}

/** A stream of integers of the column, in the version of its encoding. */
export function longsOf(stripe: Stripe, orc: OrcType, kind: StreamKind, signed: boolean): LongDecoder {
  return new LongDecoder(streamOf(stripe, orc, kind), { version: stripe.encoding(orc).version, signed });
}

function streamKey(column: number, kind: number): string {
  return `${column}/${kind}`;
}

function locateStreams(footer: StripeFooter, footerAt: number, place: string): ReadonlyMap<string, Range> {
  const found = new Map<string, Range>();
  let at = 0;
  for (const { kind, column, byteCount } of footer.streams satisfies readonly StreamInformation[]) {
    const until = at + byteCount;
    if (until > footerAt)
      throw corruptOrc(place, `stream ${kind} of column ${column} at [${at}, ${until}) passes the data of ${footerAt} bytes`);
    found.set(streamKey(column, kind), { from: at, until });
    at = until;
  }
  return found;
}
