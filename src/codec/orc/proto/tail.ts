import type { BlockCodec } from '../../compression.ts';
import { corruptOrc, unsupportedOrc } from '../orc-errors.ts';
import { readIntegers, readMessage } from './message-reader.ts';
import { type OrcKind, typeKinds } from './numbers.ts';

/** The end of a file, which says how to read what is before it. */
export interface PostScript {
  readonly footerBytes: number;
  readonly metadataBytes: number;
  readonly codec: BlockCodec | undefined;
  readonly blockBytes: number;
}

/** Where a stripe is, in bytes of the file: index, data and footer follow each other from `offset`. */
export interface StripeInformation {
  readonly offset: number;
  readonly indexBytes: number;
  readonly dataBytes: number;
  readonly footerBytes: number;
  readonly rowCount: number;
}

/** A type as it is stored: `subtypes` are positions in the list of types. */
export interface StoredType {
  readonly kind: OrcKind;
  readonly subtypes: readonly number[];
  readonly fieldNames: readonly string[];
  readonly precision: number | undefined;
  readonly scale: number | undefined;
  readonly attributes: ReadonlyMap<string, string>;
}

export interface Footer {
  readonly stripes: readonly StripeInformation[];
  readonly types: readonly StoredType[];
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  readonly rowCount: number;
}

const codecs: readonly (BlockCodec | undefined)[] = [undefined, 'deflate', 'snappy', undefined, 'lz4', 'zstd'];
const codecNames: readonly string[] = ['none', 'zlib', 'snappy', 'lzo', 'lz4', 'zstd', 'brotli'];
const defaultBlockBytes = 262_144;
/** A file with more types is refused. */
const maxTypes = 100_000;

/** @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_FEATURE_UNSUPPORTED` for a codec that is left out. */
export function parsePostScript(bytes: Uint8Array, place: string): PostScript {
  let footerBytes = 0;
  let metadataBytes = 0;
  let compression = 0;
  let blockBytes = defaultBlockBytes;
  let magic = '';
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) footerBytes = field.integer();
    else if (tag === 2) compression = field.integer();
    else if (tag === 3) blockBytes = field.integer();
    else if (tag === 5) metadataBytes = field.integer();
    else if (tag === 8000) magic = field.text();
  });
  if (magic !== 'ORC') throw corruptOrc(place, 'the mark ORC is not there');
  const codec = codecs[compression];
  if (codec === undefined && compression !== 0) {
    const name = codecNames[compression] ?? `number ${compression}`;
    throw unsupportedOrc(
      place,
      `compression ${name} is not supported`,
      'rewrite the file with zlib, zstd, snappy, lz4 or without compression',
    );
  }
  return { footerBytes, metadataBytes, codec, blockBytes };
}

/** @throws ServiceError `ORC_FILE_CORRUPT` (kind corrupt); `ORC_FEATURE_UNSUPPORTED` for an encrypted file. */
export function parseFooter(bytes: Uint8Array, place: string): Footer {
  const stripes: StripeInformation[] = [];
  const types: StoredType[] = [];
  const metadata = new Map<string, Uint8Array>();
  let rowCount = 0;
  readMessage(bytes, place, (tag, field) => {
    if (tag === 3) stripes.push(parseStripe(field.bytes(), `${place}, stripe ${stripes.length}`));
    else if (tag === 4) {
      if (types.length === maxTypes) throw corruptOrc(place, `it has more than ${maxTypes} types`);
      types.push(parseType(field.bytes(), `${place}, type ${types.length}`));
    } else if (tag === 5) parseUserMetadata(field.bytes(), place, metadata);
    else if (tag === 6) rowCount = field.integer();
    else if (tag === 10) throw unsupportedOrc(place, 'the file has encrypted columns', 'rewrite the file without column encryption');
  });
  return { stripes, types, metadata, rowCount };
}

function parseStripe(bytes: Uint8Array, place: string): StripeInformation {
  const [, offset = 0, indexBytes = 0, dataBytes = 0, footerBytes = 0, rowCount = 0] = readIntegers(bytes, place, 5);
  return { offset, indexBytes, dataBytes, footerBytes, rowCount };
}

function parseType(bytes: Uint8Array, place: string): StoredType {
  const subtypes: number[] = [];
  const fieldNames: string[] = [];
  const attributes = new Map<string, string>();
  let kind = 0;
  let precision: number | undefined;
  let scale: number | undefined;
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) kind = field.integer();
    else if (tag === 2) for (const subtype of field.integers()) subtypes.push(subtype);
    else if (tag === 3) fieldNames.push(field.text());
    else if (tag === 5) precision = field.integer();
    else if (tag === 6) scale = field.integer();
    else if (tag === 7) parseAttribute(field.bytes(), place, attributes);
  });
  const name = typeKinds[kind];
  if (name === undefined)
    throw unsupportedOrc(place, `type number ${kind} is not supported`, 'rewrite the file without columns of this type');
  return { kind: name, subtypes, fieldNames, precision, scale, attributes };
}

function parseAttribute(bytes: Uint8Array, place: string, attributes: Map<string, string>): void {
  let key = '';
  let value = '';
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) key = field.text();
    else if (tag === 2) value = field.text();
  });
  attributes.set(key, value);
}

function parseUserMetadata(bytes: Uint8Array, place: string, metadata: Map<string, Uint8Array>): void {
  let name = '';
  let value = new Uint8Array(0);
  readMessage(bytes, place, (tag, field) => {
    if (tag === 1) name = field.text();
    else if (tag === 2) value = field.bytes().slice();
  });
  metadata.set(name, value);
}
