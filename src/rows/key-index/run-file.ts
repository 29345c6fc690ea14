import { readSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { open, rename, rm } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { parseJson, printJson } from '../../base/bigint-json.ts';
import { serviceError } from '../../base/errors.ts';
import type { Failpoint } from '../../base/failpoint.ts';
import type { IndexedFile, KeyEntries } from '../../table/key-index.ts';
import { entryBytes, entryWords } from './entries.ts';

/*
 * A run: entries of whole data files, ascending by hash, in pages of equal size (the last one may be shorter). Behind them for each page the first
 * word of its first hash, and its CRC-32; then what the run is of as JSON; then the trailer. Numbers are little-endian.
 */

export const pageEntries = 128;
const pagesAtOnce = 256;
const magic = 0x314b_5754;
/** Bytes of the JSON, pages, CRC-32 of what lies between pages and trailer, magic. */
const trailerBytes = 16;

/** What a run is of. */
export interface RunContents {
  /** That of the hashes. */
  readonly salt: string;
  readonly columns: string;
  readonly carried: number;
  readonly files: readonly IndexedFile[];
}

interface Footer extends RunContents {
  readonly entries: number;
}

/** A run that is open to be read; it may be deleted meanwhile. */
export class Run {
  readonly path: string;
  readonly sizeBytes: number;
  readonly entries: number;
  readonly contents: RunContents;
  /** The first word of each page. */
  readonly fences: Uint32Array;
  readonly #checksums: Uint32Array;
  readonly #file: FileHandle;

  private constructor(parts: {
    readonly path: string;
    readonly sizeBytes: number;
    readonly footer: Footer;
    readonly fences: Uint32Array;
    readonly checksums: Uint32Array;
    readonly file: FileHandle;
  }) {
    const { footer } = parts;
    this.path = parts.path;
    this.sizeBytes = parts.sizeBytes;
    this.entries = footer.entries;
    this.contents = footer;
    this.fences = parts.fences;
    this.#checksums = parts.checksums;
    this.#file = parts.file;
  }

  /** @throws ServiceError `KEY_INDEX_CORRUPT` (corrupt), and what the file system throws. */
  static async open(path: string): Promise<Run> {
    const file = await open(path, 'r');
    try {
      const { size: sizeBytes } = await file.stat();
      const trailer = await bytesAt(file, path, { from: sizeBytes - trailerBytes, length: trailerBytes });
      const view = new DataView(trailer.buffer, trailer.byteOffset, trailerBytes);
      const [jsonBytes, pages, checksum] = [view.getUint32(0, true), view.getUint32(4, true), view.getUint32(8, true)];
      if (view.getUint32(12, true) !== magic) throw corrupt(path, 'it does not end as a run does');
      const length = pages * 8 + jsonBytes;
      const tail = await bytesAt(file, path, { from: sizeBytes - trailerBytes - length, length });
      if (crc32(tail) !== checksum) throw corrupt(path, 'its footer does not have the checksum it was written with');
      const words = new Uint32Array(tail.buffer.slice(tail.byteOffset, tail.byteOffset + pages * 8));
      // It has its checksum: what was written is what is read.
      const footer = parseJson(tail.subarray(pages * 8).toString('utf8'), path) as unknown as Footer;
      return new Run({ path, sizeBytes, footer, fences: words.subarray(0, pages), checksums: words.subarray(pages), file });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get files(): readonly IndexedFile[] {
    return this.contents.files;
  }

  get carried(): number {
    return this.contents.carried;
  }

  /** Entries of pages `[from, until)`. @throws ServiceError `KEY_INDEX_CORRUPT` (corrupt). */
  async pages(from: number, until: number): Promise<KeyEntries> {
    const { at, length } = this.#bytesOf(from, until);
    return this.#checked(from, await bytesAt(this.#file, this.path, { from: at, length }));
  }

  /** The same at once, which takes a tenth of the time for few pages, in `buffer` if they have place in it. */
  pagesNow(from: number, until: number, buffer: Uint32Array): KeyEntries {
    const { at, length } = this.#bytesOf(from, until);
    const bytes = length <= buffer.byteLength ? bytesOf(buffer).subarray(0, length) : Buffer.from(new ArrayBuffer(length));
    for (let read = 0; read < length; ) {
      const bytesRead = readSync(this.#file.fd, bytes, read, length - read, at + read);
      if (bytesRead === 0) throw corrupt(this.path, 'it is too short');
      read += bytesRead;
    }
    return this.#checked(from, bytes);
  }

  #bytesOf(from: number, until: number): { readonly at: number; readonly length: number } {
    const bytes = entryBytes(this.carried);
    const at = from * pageEntries * bytes;
    return { at, length: Math.min(until * pageEntries, this.entries) * bytes - at };
  }

  #checked(from: number, bytes: Buffer): KeyEntries {
    const pageBytes = pageEntries * entryBytes(this.carried);
    for (let at = 0; at < bytes.length; at += pageBytes) {
      const page = from + at / pageBytes;
      if (crc32(bytes.subarray(at, at + pageBytes)) !== this.#checksums[page])
        throw corrupt(this.path, `page ${page} does not have the checksum it was written with`);
    }
    return new Uint32Array(bytes.buffer, bytes.byteOffset, bytes.length / 4);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}

/**
 * Writes a run, durable and under its name only when it is whole. Entries ascend by hash and come in pieces of any size.
 *
 * @throws what the file system and `entries` throw; then there is no file.
 */
export async function writeRun(
  path: string,
  contents: RunContents,
  { entries, failpoint }: { readonly entries: AsyncIterable<KeyEntries>; readonly failpoint: Failpoint },
): Promise<void> {
  const unfinished = `${path}.tmp`;
  const file = await open(unfinished, 'wx', 0o600);
  try {
    await writeEntries(file, contents, entries);
    await file.sync();
    await file.close();
    await failpoint('within-key-index');
    await rename(unfinished, path);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(unfinished, { force: true });
    throw error;
  }
}

async function writeEntries(file: FileHandle, contents: RunContents, entries: AsyncIterable<KeyEntries>): Promise<void> {
  const pageWords = pageEntries * entryWords(contents.carried);
  const buffer = new Uint32Array(pagesAtOnce * pageWords);
  const fences: number[] = [];
  const checksums: number[] = [];
  let filled = 0;
  let count = 0;
  const flush = async (): Promise<void> => {
    for (let at = 0; at < filled; at += pageWords) {
      fences.push(buffer[at] ?? 0);
      checksums.push(crc32(bytesOf(buffer.subarray(at, Math.min(at + pageWords, filled)))));
    }
    await file.writeFile(bytesOf(buffer.subarray(0, filled)));
    filled = 0;
  };
  for await (const piece of entries) {
    count += piece.length / entryWords(contents.carried);
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + buffer.length - filled);
      buffer.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled === buffer.length) await flush();
    }
  }
  if (filled > 0) await flush();
  const { salt, columns, carried, files } = contents;
  const json = Buffer.from(printJson({ salt, columns, carried, entries: count, files: files.map((each) => ({ ...each })) }));
  const tail = Buffer.concat([bytesOf(Uint32Array.from([...fences, ...checksums])), json]);
  const trailer = bytesOf(Uint32Array.from([json.length, fences.length, crc32(tail), magic]));
  await file.writeFile(Buffer.concat([tail, trailer]));
}

function bytesOf(words: Uint32Array): Buffer {
  return Buffer.from(words.buffer, words.byteOffset, words.byteLength);
}

/** A buffer of its own, so that words in it are aligned. */
async function bytesAt(
  file: FileHandle,
  path: string,
  { from, length }: { readonly from: number; readonly length: number },
): Promise<Buffer> {
  if (from < 0) throw corrupt(path, 'it is too short');
  const bytes = Buffer.from(new ArrayBuffer(length));
  for (let read = 0; read < length; ) {
    const { bytesRead } = await file.read(bytes, read, length - read, from + read);
    if (bytesRead === 0) throw corrupt(path, 'it is too short');
    read += bytesRead;
  }
  return bytes;
}

function corrupt(path: string, why: string): Error {
  return serviceError.corrupt('KEY_INDEX_CORRUPT', `run of a key index ${path}: ${why}`, {
    hint: 'nothing is lost: it is made again from the table',
  });
}
