import { AnalysisException } from '../../base/analysis-exception.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import { parseSchema } from '../../expr/parse/parse-type.ts';
import type { StructType } from '../../schema/types.ts';
import { defaultTableFormat } from '../../table/formats.ts';
import { namePath } from '../column.ts';
import { DataFrame } from '../data-frame.ts';
import type { Plan, TableReference } from '../plan/plan.ts';
import type { SessionRuntime } from '../run/session-runtime.ts';
import { invalidArgument } from '../session-errors.ts';
import { viewKeyOf } from '../temp-view-names.ts';
import { liveFormat, liveSourceOf } from './live-source.ts';
import { tableAt } from './path-version.ts';
import { appendedAfterOf, canonicalOptions, changeRangeOf, openOptionsOf, readPointOf } from './read-options.ts';

interface Settings {
  readonly format: string | undefined;
  readonly options: ReadonlyMap<string, string>;
  readonly schema: StructType | undefined;
}

const unset: Settings = { format: undefined, options: new Map(), schema: undefined };

/** Reads tables and files: `session.read.format('delta').option('versionAsOf', 3).load(path)`. Immutable; nothing is read before an action. */
export class DataFrameReader {
  readonly #runtime: SessionRuntime;
  readonly #settings: Settings;

  constructor(runtime: SessionRuntime, settings: Settings = unset) {
    this.#runtime = runtime;
    this.#settings = settings;
  }

  /** `delta`, `iceberg`, `parquet`, `csv`, `json` or `tidewater-live`. Default: delta. */
  format(name: string): DataFrameReader {
    return this.#with({ format: name.toLowerCase() });
  }

  option(name: string, value: string | number | bigint | boolean): DataFrameReader {
    return this.#with({ options: new Map([...this.#settings.options, [name, String(value)]]) });
  }

  options(values: Readonly<Record<string, string | number | bigint | boolean>>): DataFrameReader {
    return Object.entries(values).reduce<DataFrameReader>((reader, [name, value]) => reader.option(name, value), this);
  }

  /** The columns of files, as a type or as `id BIGINT, name STRING`. @throws ParseException. */
  schema(schema: StructType | string): DataFrameReader {
    return this.#with({ schema: typeof schema === 'string' ? parseSchema(schema) : schema });
  }

  /**
   * Rows of a table's directory, or of files. `path@v3` is version 3 of a table.
   *
   * @throws AnalysisException `UNKNOWN_OPTION`, `UNSUPPORTED_FEATURE` for a format that cannot be read; what is wrong with the path shows
   * when the DataFrame is used.
   */
  load(path?: string | readonly string[]): DataFrame {
    const given = path ?? this.#settings.options.get('path');
    if (given === undefined) throw invalidArgument('load() needs a path');
    const format = this.#format();
    if (format === 'parquet' || format === 'csv' || format === 'json') {
      const paths = typeof given === 'string' ? [given] : given;
      const options = canonicalOptions(format, this.#settings.options);
      return this.#frame({ kind: 'files', source: { format, paths, options, schema: this.#settings.schema } });
    }
    if (format === liveFormat && typeof given === 'string') {
      this.#refuseSchema();
      // A configuration leads to whatever it names.
      if (this.#runtime.tables.isConfined)
        throw unsupported(
          `the format "${liveFormat}" in a session with tidewater.files.allowedLocations`,
          'whoever makes the session gives it a catalog: tidewater.LiveCatalog',
        );
      return this.#frame({ kind: 'live', source: liveSourceOf(given, this.#settings.options) });
    }
    if (!this.#runtime.tables.formats.includes(format)) {
      throw unsupported(
        `reading format "${format}"`,
        `formats: ${[...this.#runtime.tables.formats, 'parquet', 'csv', 'json', liveFormat].join(', ')}`,
      );
    }
    const [single, ...more] = typeof given === 'string' ? [given] : given;
    if (single === undefined || more.length > 0) throw invalidArgument(`a ${format} table is loaded from one path`);
    this.#refuseSchema();
    return this.#table(format, single);
  }

  /** Rows of a table or a temporary view by name. Time travel and the change feed go by options. */
  table(name: string): DataFrame {
    const parts = namePath(name);
    const key = viewKeyOf(parts);
    const view = key === undefined ? undefined : this.#runtime.views.get(key);
    if (view !== undefined) return this.#frame({ kind: 'alias', name: parts.at(-1) ?? '', input: view });
    const options = canonicalOptions('table', this.#settings.options);
    return this.#read(this.#runtime.tables.referenceOf(parts), options);
  }

  parquet(...paths: readonly string[]): DataFrame {
    return this.format('parquet').load(paths);
  }

  csv(...paths: readonly string[]): DataFrame {
    return this.format('csv').load(paths);
  }

  json(...paths: readonly string[]): DataFrame {
    return this.format('json').load(paths);
  }

  delta(path: string): DataFrame {
    return this.format('delta').load(path);
  }

  #table(format: string, given: string): DataFrame {
    const options = canonicalOptions('table', this.#settings.options);
    const reference = this.#runtime.tables.givenReference(format, given);
    return this.#read(reference, options);
  }

  #read(reference: TableReference, options: ReadonlyMap<string, string>): DataFrame {
    const changes = changeRangeOf(options, this.#runtime.conf);
    const zone = this.#runtime.conf.zone?.rule;
    const at = tableAt(reference, readPointOf(options, zone), zone);
    const source = { ...at, changes, appendedAfter: appendedAfterOf(options), open: openOptionsOf(options) };
    return this.#frame({ kind: 'table', source });
  }

  /** A table knows its columns. */
  #refuseSchema(): void {
    if (this.#settings.schema === undefined) return;
    throw new AnalysisException({
      errorClass: 'DELTA_UNSUPPORTED_SCHEMA_DURING_READ',
      message: 'Delta does not support specifying the schema at read time.',
    });
  }

  #format(): string {
    return this.#settings.format ?? this.#runtime.conf.find('spark.sql.sources.default')?.toLowerCase() ?? defaultTableFormat;
  }

  #frame(plan: Plan): DataFrame {
    return new DataFrame(this.#runtime, plan);
  }

  #with(change: Partial<Settings>): DataFrameReader {
    return new DataFrameReader(this.#runtime, { ...this.#settings, ...change });
  }
}
