import { corruptOrc } from '../orc-errors.ts';
import { type Footer, type PostScript, parseFooter, parsePostScript, type StripeInformation } from '../proto/tail.ts';
import { type OrcType, orcTypeTree } from '../schema/orc-type.ts';
import { type Chunking, maxChunkBytes, unpackChunks } from '../streams/chunks.ts';

/** What the end of a file says about it. */
export interface OrcTail {
  /** What errors call the file. */
  readonly name: string;
  readonly rowCount: number;
  /** The root struct; its children are the columns. */
  readonly schema: OrcType;
  readonly stripes: readonly StripeInformation[];
  /** What the writer left in the file by name. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  readonly chunking: Chunking;
}

/** Bytes at the end of a file that are fetched first; nearly always they hold the footer. */
export const tailGuessBytes: number = 16_384;
/** No stripe may have more rows. */
const maxStripeRows = 2 ** 31 - 1;
const markBytes = 3;

interface TailBytes {
  readonly name: string;
  /** The last bytes of the file. */
  readonly tail: Uint8Array;
  readonly fileBytes: number;
}

/**
 * Bytes from the end of the file that its footer needs.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_FEATURE_UNSUPPORTED` (kind unsupported).
 */
export function footerReach(file: TailBytes): number {
  const { postScript, postScriptBytes } = postScriptOf(file);
  return postScript.footerBytes + postScriptBytes + 1;
}

/**
 * Parses the end of a file, of which at least `footerReach` bytes are given.
 *
 * @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_FEATURE_UNSUPPORTED` (kind unsupported).
 */
export function parseTail(file: TailBytes): OrcTail {
  const { name, tail, fileBytes } = file;
  const { postScript, postScriptBytes } = postScriptOf(file);
  const { codec, blockBytes, footerBytes } = postScript;
  const place = `orc file "${name}", footer`;
  if (codec !== undefined && (blockBytes < 1 || blockBytes > maxChunkBytes)) throw corruptOrc(place, `chunks of ${blockBytes} bytes`);
  const footerEnd = tail.length - 1 - postScriptBytes;
  if (footerBytes > footerEnd) throw corruptOrc(place, `${footerBytes} bytes do not fit into the file of ${fileBytes}`);
  const chunking = { codec, blockBytes };
  const footer = parseFooter(unpackChunks(tail.subarray(footerEnd - footerBytes, footerEnd), chunking, place), place);
  checkStripes(footer, fileBytes - (tail.length - footerEnd) - footerBytes, place);
  const { rowCount, stripes, metadata } = footer;
  return { name, rowCount, schema: orcTypeTree(footer.types, place), stripes, metadata, chunking };
}

function postScriptOf({ name, tail, fileBytes }: TailBytes): { readonly postScript: PostScript; readonly postScriptBytes: number } {
  const place = `orc file "${name}", postscript`;
  const postScriptBytes = tail.at(-1);
  if (postScriptBytes === undefined || postScriptBytes + 1 + markBytes > fileBytes || postScriptBytes + 1 > tail.length) {
    throw corruptOrc(place, `a file of ${fileBytes} bytes is too short`);
  }
  const postScript = parsePostScript(tail.subarray(-1 - postScriptBytes, -1), place);
  return { postScript, postScriptBytes };
}

function checkStripes(footer: Footer, contentEnd: number, place: string): void {
  let rows = 0;
  let end = 0;
  for (const [index, stripe] of footer.stripes.entries()) {
    const stripeEnd = stripe.offset + stripe.indexBytes + stripe.dataBytes + stripe.footerBytes;
    if (stripe.offset < end || stripeEnd > contentEnd) {
      throw corruptOrc(place, `stripe ${index} at [${stripe.offset}, ${stripeEnd}) is outside of [${end}, ${contentEnd})`);
    }
    if (stripe.rowCount > maxStripeRows) throw corruptOrc(place, `stripe ${index} has ${stripe.rowCount} rows`);
    end = stripeEnd;
    rows += stripe.rowCount;
  }
  if (rows !== footer.rowCount) throw corruptOrc(place, `${footer.rowCount} rows are told and the stripes have ${rows}`);
}
