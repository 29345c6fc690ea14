import { isServiceError } from '../../base/errors.ts';
import { type ByteRange, type FooterBytes, footerTail, isList, isStruct, parquetMark } from './footer.ts';
import {
  parseThriftStruct,
  printThriftFields,
  printThriftListHeader,
  printThriftStruct,
  type ThriftField,
  type ThriftStruct,
  type ThriftValue,
  thriftField,
  thriftType,
} from './thrift-compact.ts';

export type AddedRowGroups =
  /** The bytes to copy, in order. */
  | { readonly kind: 'added'; readonly ranges: readonly ByteRange[]; readonly rowCount: number; readonly rowGroupCount: number }
  /** The row groups cannot stand beside those before them; of no use from here on. */
  | { readonly kind: 'refused'; readonly reason: string };

/** The ordinal of a row group is a 16-bit integer. */
const maxRowGroups = 32_767;

const fileField = { schema: 2, rowCount: 3, rowGroups: 4, encryption: 8, signingKey: 9 } as const;
const groupField = { columns: 1, rowCount: 3, fileOffset: 5, ordinal: 7 } as const;
const chunkField = { filePath: 1, fileOffset: 2, metadata: 3, firstPointer: 4, lastPointer: 7, crypto: 8, encrypted: 9 } as const;
const columnField = { storedBytes: 7, dataPage: 9, indexPage: 10, dictionaryPage: 11, bloomOffset: 14, bloomLength: 15 } as const;

/**
 * One Parquet file out of several, whose row groups are taken over byte for byte: only their offsets change in the footer. Of the footers
 * everything else must be the same byte for byte, the writer's name included: how values are to be understood depends on it (calendars,
 * broken statistics), and on what writers put into the key-value pairs. Page indexes and Bloom filters are left behind, which costs a reader
 * nothing but what they would have saved it.
 */
export class RowGroupConcatenation {
  #position: number = parquetMark.length;
  #rowCount = 0n;
  #rowGroupCount = 0;
  #common: ThriftStruct | undefined;
  #commonBytes: Uint8Array | undefined;
  readonly #rowGroups: Uint8Array[] = [];

  /** Takes over the row groups of the next file. Never throws for what is in a file. */
  add(footer: FooterBytes): AddedRowGroups {
    try {
      return this.#add(parseThriftStruct(footer.bytes), footer.start);
    } catch (error) {
      if (error instanceof Refusal) return { kind: 'refused', reason: error.message };
      if (isServiceError(error, 'corrupt')) return { kind: 'refused', reason: error.message };
      throw error;
    }
  }

  /** What follows the copied bytes: footer, its length, magic. At least one file was added. */
  finish(): Uint8Array {
    const fields = this.#common?.fields ?? [];
    const before = fields.filter((field) => field.id < fileField.rowCount);
    const after = fields.filter((field) => field.id > fileField.rowGroups);
    const counted: ThriftField = { id: fileField.rowCount, type: thriftType.i64, value: this.#rowCount };
    const list = { id: fileField.rowGroups, afterId: fileField.rowCount };
    const footer = Buffer.concat([
      printThriftFields([...before, counted], 0),
      printThriftListHeader(list, thriftType.struct, this.#rowGroupCount),
      ...this.#rowGroups,
      printThriftFields(after, fileField.rowGroups),
      Uint8Array.of(0),
    ]);
    return Buffer.concat([footer, footerTail(footer.length)]);
  }

  #add(file: ThriftStruct, dataEnd: number): AddedRowGroups {
    this.#checkCommon(file);
    const groups = structs(thriftField(file, fileField.rowGroups), 'row groups');
    this.#rowGroupCount += groups.length;
    if (this.#rowGroupCount > maxRowGroups) throw new Refusal(`more than ${maxRowGroups} row groups`);
    const ranges: ByteRange[] = [];
    let rowCount = 0n;
    for (const group of groups) {
      rowCount += integer(thriftField(group, groupField.rowCount), 'row count');
      const columns = structs(thriftField(group, groupField.columns), 'column chunks');
      const range = rangeOf(columns, dataEnd);
      const shift = BigInt(this.#position - range.from);
      const ordinal = this.#rowGroups.length;
      this.#rowGroups.push(printThriftStruct(movedGroup(group, columns, { shift, ordinal })));
      this.#position += range.until - range.from;
      addRange(ranges, range);
    }
    if (rowCount !== integer(thriftField(file, fileField.rowCount), 'row count'))
      throw new Refusal('the row groups have other rows than the file');
    this.#rowCount += rowCount;
    return { kind: 'added', ranges, rowCount: Number(rowCount), rowGroupCount: groups.length };
  }

  #checkCommon(file: ThriftStruct): void {
    for (const id of [fileField.encryption, fileField.signingKey]) {
      if (thriftField(file, id) !== undefined) throw new Refusal('the file is encrypted or signed');
    }
    const common: ThriftStruct = {
      kind: 'struct',
      fields: file.fields.filter(({ id }) => id !== fileField.rowCount && id !== fileField.rowGroups),
    };
    const bytes = printThriftStruct(common);
    this.#common ??= common;
    this.#commonBytes ??= bytes;
    if (Buffer.compare(bytes, this.#commonBytes) !== 0) throw new Refusal('schema, writer or key-value pairs differ');
  }
}

class Refusal extends Error {}

/** The bytes of a row group: its column chunks without overlap and without gaps, which would speak of sizes that are wrong. */
function rangeOf(columns: readonly ThriftStruct[], dataEnd: number): ByteRange {
  const chunks = columns.map(chunkRange).sort((a, b) => a.from - b.from);
  const [first] = chunks;
  if (first === undefined) throw new Refusal('a row group without columns');
  let until = first.from;
  for (const chunk of chunks) {
    if (chunk.from !== until || chunk.until <= chunk.from) throw new Refusal('the column chunks of a row group do not lie side by side');
    until = chunk.until;
  }
  if (first.from < parquetMark.length || until > dataEnd) throw new Refusal('a row group lies outside the data');
  return { from: first.from, until };
}

function chunkRange(chunk: ThriftStruct): ByteRange {
  if (thriftField(chunk, chunkField.filePath) !== undefined) throw new Refusal('a column chunk lies in another file');
  for (const id of [chunkField.crypto, chunkField.encrypted]) {
    if (thriftField(chunk, id) !== undefined) throw new Refusal('a column chunk is encrypted');
  }
  const metadata = metadataOf(chunk);
  const starts = [integer(thriftField(metadata, columnField.dataPage), 'offset')];
  for (const id of [columnField.indexPage, columnField.dictionaryPage]) {
    const offset = thriftField(metadata, id);
    // Some writers say 0 for a page that is not there.
    if (typeof offset === 'bigint' && offset > 0n) starts.push(offset);
  }
  const from = starts.reduce((least, start) => (start < least ? start : least));
  const until = from + integer(thriftField(metadata, columnField.storedBytes), 'size');
  if (from < 0n || until > BigInt(Number.MAX_SAFE_INTEGER)) throw new Refusal('an offset out of range');
  return { from: Number(from), until: Number(until) };
}

function movedGroup(
  group: ThriftStruct,
  columns: readonly ThriftStruct[],
  to: { readonly shift: bigint; readonly ordinal: number },
): ThriftStruct {
  const fields = group.fields.map((field): ThriftField => {
    if (field.id === groupField.columns) {
      const items = columns.map((chunk) => movedChunk(chunk, to.shift));
      return { ...field, value: { kind: 'list', elementType: thriftType.struct, items } };
    }
    if (field.id === groupField.fileOffset) return shifted(field, to.shift);
    if (field.id === groupField.ordinal) return { ...field, value: BigInt(to.ordinal) };
    return field;
  });
  return { kind: 'struct', fields };
}

function movedChunk(chunk: ThriftStruct, shift: bigint): ThriftStruct {
  const fields = chunk.fields.flatMap((field): readonly ThriftField[] => {
    if (field.id >= chunkField.firstPointer && field.id <= chunkField.lastPointer) return [];
    if (field.id === chunkField.fileOffset) return [shifted(field, shift)];
    if (field.id === chunkField.metadata) return [{ ...field, value: movedMetadata(metadataOf(chunk), shift) }];
    return [field];
  });
  return { kind: 'struct', fields };
}

function movedMetadata(metadata: ThriftStruct, shift: bigint): ThriftStruct {
  const moved: readonly number[] = [columnField.dataPage, columnField.indexPage, columnField.dictionaryPage];
  const kept = metadata.fields.filter(({ id }) => id !== columnField.bloomOffset && id !== columnField.bloomLength);
  return { kind: 'struct', fields: kept.map((field) => (moved.includes(field.id) ? shifted(field, shift) : field)) };
}

/** 0 is no offset but the lack of one. */
function shifted(field: ThriftField, shift: bigint): ThriftField {
  const offset = integer(field.value, 'offset');
  return offset === 0n ? field : { ...field, value: offset + shift };
}

function metadataOf(chunk: ThriftStruct): ThriftStruct {
  const metadata = thriftField(chunk, chunkField.metadata);
  if (!isStruct(metadata)) throw new Refusal('a column chunk without metadata');
  return metadata;
}

function structs(value: ThriftValue | undefined, what: string): readonly ThriftStruct[] {
  if (!isList(value)) throw new Refusal(`the footer has no ${what}`);
  return value.items.map((item) => {
    if (!isStruct(item)) throw new Refusal(`the ${what} are no structs`);
    return item;
  });
}

function integer(value: ThriftValue | undefined, what: string): bigint {
  if (typeof value !== 'bigint') throw new Refusal(`a missing ${what}`);
  return value;
}

function addRange(ranges: ByteRange[], range: ByteRange): void {
  const last = ranges.at(-1);
  if (last?.until === range.from) ranges[ranges.length - 1] = { from: last.from, until: range.until };
  else ranges.push(range);
}
