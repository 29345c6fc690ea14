import { AnalysisException } from '../base/analysis-exception.ts';
import type { ParameterValues } from '../expr/bind-parameters.ts';
import { parseSchema } from '../expr/parse/parse-type.ts';
import { statementTime } from '../expr/time-zone.ts';
import type { StructType } from '../schema/types.ts';
import type { SessionConf } from './conf/session-conf.ts';
import { DataFrame } from './data-frame.ts';
import { executeText } from './execute/execute-text.ts';
import { rangePlan } from './plan/range-plan.ts';
import { DataFrameReader } from './read/data-frame-reader.ts';
import { batchesOf } from './rows/build-rows.ts';
import { inferSchema } from './rows/infer-schema.ts';
import type { RowInput } from './rows/row.ts';
import type { SessionRuntime } from './run/session-runtime.ts';
import { DataStreamReader } from './streaming/data-stream-reader.ts';
import { globalKey } from './temp-view-names.ts';
import { toldOfSession } from './told-of-session.ts';

export interface SessionParts {
  readonly runtime: Omit<SessionRuntime, 'assertRunning' | 'nextFrame' | 'now' | 'version'>;
  readonly version: string;
  /** Closes what the session was given: the engine first of all. */
  readonly close: () => Promise<void>;
}

/**
 * Where queries and statements begin, with configuration, catalogs and temporary views of its own. Made by `Session.builder()`; it holds
 * an embedded engine once the first query ran, so it must be stopped: `await session.stop()`, or `await using session = …`.
 */
export class Session {
  readonly version: string;
  readonly #runtime: SessionRuntime;
  readonly #close: () => Promise<void>;
  #lastFrame = 0;
  #stopped: Promise<void> | undefined;

  constructor(parts: SessionParts) {
    this.version = parts.version;
    this.#close = parts.close;
    this.#runtime = {
      ...parts.runtime,
      version: parts.version,
      now: () => ({
        ...statementTime({ clock: parts.runtime.clock, zone: parts.runtime.conf.zone }),
        told: toldOfSession(parts.runtime.tables, parts.version),
      }),
      nextFrame: () => {
        this.#lastFrame += 1;
        return `\u0001frame:${this.#lastFrame}`;
      },
      assertRunning: () => {
        if (this.#stopped !== undefined) throw stopped();
      },
    };
  }

  /** @internal For other parts of the session. */
  get runtime(): SessionRuntime {
    return this.#runtime;
  }

  /** False once it was stopped. */
  get running(): boolean {
    return this.#stopped === undefined;
  }

  get conf(): SessionConf {
    return this.#runtime.conf;
  }

  /** Reads tables and files. */
  get read(): DataFrameReader {
    return new DataFrameReader(this.#runtime);
  }

  /** Reads tables as streams. */
  get readStream(): DataStreamReader {
    return new DataStreamReader(this.#runtime);
  }

  /** Rows of a table or temporary view by name: `t`, `db.t`, `catalog.db.t`, `` delta.`/path` ``. */
  table(name: string): DataFrame {
    return this.read.table(name);
  }

  /**
   * Executes one statement. A query gives a DataFrame that is computed when it is used, though its names are checked at once; every other
   * statement is executed before this resolves, and its result rows are in the DataFrame.
   *
   * @param parameters values of `:name` by name, of `?` in order. They are values, never text of the statement.
   * @throws ParseException with position and what was expected, AnalysisException, and what the statement's operation throws.
   */
  sql(text: string, parameters?: ParameterValues, options: { readonly signal?: AbortSignal | undefined } = {}): Promise<DataFrame> {
    this.#runtime.assertRunning();
    return executeText(this.#runtime, text, parameters, options.signal);
  }

  /**
   * Given rows as a DataFrame.
   *
   * @param schema a type, or text such as `id BIGINT NOT NULL, name STRING`; without it the types are inferred (see `inferSchema`: whole
   * numbers are longs, text stays text).
   * @throws AnalysisException naming row, column, type and value of the first one that does not fit.
   */
  createDataFrame(rows: readonly RowInput[], schema?: StructType | string): DataFrame {
    const columns = schema === undefined ? inferSchema(rows) : typeof schema === 'string' ? parseSchema(schema) : schema;
    return new DataFrame(this.#runtime, {
      kind: 'rows',
      schema: columns,
      batches: batchesOf(columns, rows, this.#runtime.conf.zone?.rule),
    });
  }

  /** One column `id` of the whole numbers `[from, until)`; with one argument `[0, until)`. */
  range(fromOrUntil: number | bigint, until?: number | bigint, step: number | bigint = 1n): DataFrame {
    const [from, end] = until === undefined ? [0n, BigInt(fromOrUntil)] : [BigInt(fromOrUntil), BigInt(until)];
    return new DataFrame(this.#runtime, rangePlan(from, end, BigInt(step)));
  }

  /** Removes a temporary view. False: there was none. */
  dropTempView(name: string): boolean {
    return this.#runtime.views.delete(name.toLowerCase());
  }

  /** Removes a global temporary view, given without `global_temp`. False: there was none. */
  dropGlobalTempView(name: string): boolean {
    return this.#runtime.views.delete(globalKey(name));
  }

  /** Lets go of cached rows and the engine. Everything of the session is unusable afterwards. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop();
    return this.#stopped;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop();
  }

  async #stop(): Promise<void> {
    for (const query of this.#runtime.queries) await query.stop();
    for (const held of this.#runtime.kept) await held.dispose();
    this.#runtime.kept.clear();
    await this.#close();
  }
}

function stopped(): AnalysisException {
  return new AnalysisException({
    errorClass: 'SESSION_STOPPED',
    message: 'the session was stopped',
    hint: 'make another one',
  });
}
