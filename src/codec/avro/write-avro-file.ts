import { type JsonValue, printJson } from '../../base/bigint-json.ts';
import type { InputRow } from '../build-columns.ts';
import { avroMismatch } from './avro-errors.ts';
import { parseAvroType } from './avro-type.ts';
import { recordEncoder, type ValueEncoder } from './encode-values.ts';
import { type AvroContainerOptions, AvroContainerWriter } from './write-container.ts';

export interface WriteAvroOptions extends Omit<AvroContainerOptions, 'schema'> {
  /** The schema of the records with all attributes the file shall have; it is written as it is. */
  readonly schema: JsonValue;
}

/**
 * An Avro file record by record, for files that end at a size. See `recordEncoder` for the values.
 *
 * @throws ServiceError `AVRO_VALUE_MISMATCH` from `append`: the record is left out and the writer stays usable; from the constructor for a
 *   schema that is no record, `AVRO_FILE_CORRUPT` for what is no schema.
 */
export class AvroRecordWriter {
  readonly #container: AvroContainerWriter;
  readonly #encode: ValueEncoder;

  constructor(options: WriteAvroOptions) {
    const type = parseAvroType(options.schema, 'avro file to be written');
    if (type.kind !== 'record') throw avroMismatch('avro file to be written', `the schema is of type ${type.kind} instead of a record`);
    this.#encode = recordEncoder(type, type.name);
    this.#container = new AvroContainerWriter({ ...options, schema: printJson(options.schema) });
  }

  append(record: InputRow): void {
    const { sink } = this.#container;
    const before = sink.length;
    try {
      this.#encode(record, sink);
    } catch (error) {
      sink.truncate(before);
      throw error;
    }
    this.#container.endRow();
  }

  get rowCount(): number {
    return this.#container.rowCount;
  }

  /** What the file has so far; blocks that are not packed yet count unpacked, so `drain` makes it smaller. */
  get sizeBytes(): number {
    return this.#container.sizeBytes;
  }

  /** Waits until few blocks wait for being packed: who writes more than memory should hold calls it between records. */
  async drain(): Promise<void> {
    await this.#container.drain();
  }

  /** The whole file. One without records is a file too. */
  async finish(): Promise<Uint8Array> {
    return await this.#container.finish();
  }
}

/** An Avro file of the records in their order. Errors as `AvroRecordWriter`. */
export async function writeAvroFile(options: WriteAvroOptions & { readonly records: Iterable<InputRow> }): Promise<Uint8Array> {
  const writer = new AvroRecordWriter(options);
  for (const record of options.records) {
    writer.append(record);
    if (writer.rowCount % recordsBetweenDrains === 0) await writer.drain();
  }
  return await writer.finish();
}

const recordsBetweenDrains = 1024;
