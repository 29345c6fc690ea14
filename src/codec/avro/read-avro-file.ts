import { type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { PlainRow } from '../rows.ts';
import { avroCorrupt, avroUnsupported } from './avro-errors.ts';
import { type AvroRecord, parseAvroType } from './avro-type.ts';
import { ByteCursor } from './byte-cursor.ts';
import { leastBytes, recordDecoder } from './decode-values.ts';
import { type AvroBlock, type AvroCodec, type AvroContainer, DEFAULT_MAX_BLOCK_BYTES, readContainer } from './read-container.ts';

export interface ReadAvroOptions {
  /** Names the file in errors. */
  readonly name: string;
  /** What one block may unpack to; default `DEFAULT_MAX_BLOCK_BYTES`. */
  readonly maxBlockBytes?: number | undefined;
}

export interface ReadRecordsOptions {
  /** Ids of fields that are passed over instead of read, at every level: the objects lack them. */
  readonly omitFieldIds?: ReadonlySet<number> | undefined;
}

export interface AvroFile {
  /** The header's entries, `avro.schema` and `avro.codec` among them. */
  readonly metadata: ReadonlyMap<string, Uint8Array>;
  /** The writer's schema as it is written, ids and all. */
  readonly schema: JsonValue;
  /** The same with references resolved; see `fieldNamesById`. */
  readonly type: AvroRecord;
  readonly codec: AvroCodec;
  /** The rows in file order, see `recordDecoder` for their values. Can be asked for again. */
  readonly records: (options?: ReadRecordsOptions) => Generator<PlainRow, void, undefined>;
}

/**
 * Opens an Avro file of records, such as a manifest or a manifest list; rows are read while they are asked for.
 *
 * @throws ServiceError `AVRO_FILE_CORRUPT` naming file and place, also from `records`; `AVRO_UNSUPPORTED` for another codec or a type
 *   that contains itself.
 */
export function readAvroFile(bytes: Uint8Array, options: ReadAvroOptions): AvroFile {
  const { container, schema, type } = openAvroFile(bytes, options);
  return {
    metadata: container.metadata,
    schema,
    type,
    codec: container.codec,
    records: ({ omitFieldIds = none } = {}) => readRecords(container, type, omitFieldIds),
  };
}

const none: ReadonlySet<number> = new Set();

export interface OpenAvroFile {
  readonly container: AvroContainer;
  readonly schema: JsonValue;
  readonly type: AvroRecord;
}

/** Reads the header of a file of records. Errors as `readAvroFile`. */
export function openAvroFile(bytes: Uint8Array, options: ReadAvroOptions): OpenAvroFile {
  const container = readContainer(bytes, options.name, options.maxBlockBytes ?? DEFAULT_MAX_BLOCK_BYTES);
  const text = container.metadata.get('avro.schema');
  if (text === undefined) throw avroCorrupt(options.name, 'the avro header has no schema');
  const schema = parseSchema(Buffer.from(text).toString('utf8'), options.name);
  const type = parseAvroType(schema, options.name);
  if (type.kind !== 'record') throw avroUnsupported(options.name, `the avro file holds values of type ${type.kind} instead of records`);
  return { container, schema, type };
}

/** A cursor at the first row of a block, whose number of rows can be true. */
export function blockCursor(block: AvroBlock, rowBytes: number): ByteCursor {
  const cursor = new ByteCursor(block.bytes, block.where, block.freeItems);
  cursor.checkCount(block.rowCount, rowBytes);
  return cursor;
}

/** Refuses a block that goes on behind its last row. */
export function checkBlockEnd(cursor: ByteCursor): void {
  if (cursor.remaining > 0) throw cursor.fail(`${cursor.remaining} bytes follow the last row of the block`);
}

function* readRecords(container: AvroContainer, type: AvroRecord, omit: ReadonlySet<number>): Generator<PlainRow, void, undefined> {
  const read = recordDecoder(type, omit);
  const rowBytes = leastBytes(type);
  for (const block of container.blocks()) {
    const cursor = blockCursor(block, rowBytes);
    for (let index = 0; index < block.rowCount; index++) yield read(cursor);
    checkBlockEnd(cursor);
  }
}

function parseSchema(text: string, name: string): JsonValue {
  try {
    return parseJson(text, 'avro schema');
  } catch (cause) {
    if (!isServiceError(cause, 'corrupt')) throw cause;
    throw avroCorrupt(name, cause.message, cause);
  }
}
