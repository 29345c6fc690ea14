import { type JsonValue, parseJson } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import { avroCorrupt, avroUnsupported } from './avro-errors.ts';
import { type AvroRecord, parseAvroType } from './avro-type.ts';
import { ByteCursor } from './byte-cursor.ts';
import { type AvroBlock, type AvroContainer, DEFAULT_MAX_BLOCK_BYTES, readContainer } from './read-container.ts';

export interface ReadAvroOptions {
  /** Names the file in errors. */
  readonly name: string;
  /** What one block may unpack to; default `DEFAULT_MAX_BLOCK_BYTES`. */
  readonly maxBlockBytes?: number | undefined;
}

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

function parseSchema(text: string, name: string): JsonValue {
  try {
    return parseJson(text, 'avro schema');
  } catch (cause) {
    if (!isServiceError(cause, 'corrupt')) throw cause;
    throw avroCorrupt(name, cause.message, cause);
  }
}
