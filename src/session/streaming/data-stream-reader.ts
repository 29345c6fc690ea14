import { unsupported } from '../../base/unsupported-feature.ts';
import { defaultTableFormat } from '../../table/formats.ts';
import { namePath } from '../column.ts';
import { DataFrame } from '../data-frame.ts';
import type { TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { invalidArgument } from '../session-errors.ts';
import { streamOptionsOf, streamReadOptions } from './stream-options.ts';

interface Settings {
  readonly format: string | undefined;
  readonly options: ReadonlyMap<string, string>;
}

/**
 * Reads a table as a stream: `session.readStream.format('delta').option('readChangeFeed', 'true').load(path)`. Immutable; the DataFrame is
 * started with `writeStream`.
 *
 * Options: `readChangeFeed` (row changes instead of appended rows), `startingVersion` (a number or `latest`), `startingTimestamp`,
 * `maxFilesPerTrigger` (default 1000), `maxBytesPerTrigger`, `ignoreDeletes`, `ignoreChanges` (also by its older name `ignoreFileDeletion`),
 * `skipChangeCommits`, which wins over both, `failOnDataLoss`. Without
 * a start the stream begins with the rows of the newest version.
 *
 * Of an Iceberg table the stream has the rows that appends have added, from the oldest snapshot there is: `stream-from-timestamp`
 * (milliseconds since the epoch), `streaming-skip-delete-snapshots`, `streaming-skip-overwrite-snapshots`,
 * `streaming-max-files-per-micro-batch` (default 1000), `streaming-max-rows-per-micro-batch`.
 */
export class DataStreamReader {
  readonly #runtime: SessionRuntime;
  readonly #settings: Settings;

  constructor(runtime: SessionRuntime, settings: Settings = { format: undefined, options: new Map() }) {
    this.#runtime = runtime;
    this.#settings = settings;
  }

  /** `delta`, the default, or `iceberg`. */
  format(name: string): DataStreamReader {
    return new DataStreamReader(this.#runtime, { ...this.#settings, format: name.toLowerCase() });
  }

  option(name: string, value: string | number | bigint | boolean): DataStreamReader {
    return new DataStreamReader(this.#runtime, { ...this.#settings, options: new Map([...this.#settings.options, [name, String(value)]]) });
  }

  options(values: Readonly<Record<string, string | number | bigint | boolean>>): DataStreamReader {
    return Object.entries(values).reduce<DataStreamReader>((reader, [name, value]) => reader.option(name, value), this);
  }

  /** A table's directory; of Iceberg tables also a name of the catalog. @throws AnalysisException `UNKNOWN_OPTION`, `DELTA_ILLEGAL_OPTION`, `UNSUPPORTED_FEATURE`. */
  load(path?: string): DataFrame {
    const given = path ?? this.#settings.options.get('path');
    if (given === undefined) throw invalidArgument('load() needs a path');
    const format = this.#settings.format ?? defaultTableFormat;
    if (!this.#runtime.tables.formats.includes(format)) {
      throw unsupported(`a stream of format "${format}"`, `formats: ${this.#runtime.tables.formats.join(', ')}`);
    }
    return this.#frame(this.#runtime.tables.givenReference(format, given));
  }

  /** A table of the catalog by name. */
  table(name: string): DataFrame {
    return this.#frame(this.#runtime.tables.referenceOf(namePath(name)));
  }

  #frame(reference: TableReference): DataFrame {
    const options = streamOptionsOf(streamReadOptions(this.#settings.options), this.#runtime.conf.zone?.rule);
    return new DataFrame(this.#runtime, { kind: 'stream', stream: { reference, options } });
  }
}
