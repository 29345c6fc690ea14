import { tmpdir } from 'node:os';
import type { IdSource } from '../base/ids.ts';
import { DuckdbEngine } from '../engine/duckdb-engine.ts';
import type { Engine } from '../engine/engine.ts';
import type { OpenObjectStore } from '../storage/object-store.ts';

export interface LazyEngineOptions {
  readonly memoryLimitBytes: number;
  readonly threads: number;
  readonly temporaryDirectory: string | undefined;
  /** Most bytes of local copies of files that lie in other stores. */
  readonly fileCacheBytes?: number | undefined;
  /** Opens files in other stores that belong to no table. */
  readonly openStore?: OpenObjectStore | undefined;
  readonly ids: IdSource;
}

/** The engine of a process, started by whoever needs it first: most processes never do. */
export class LazyEngine {
  readonly #options: LazyEngineOptions;
  #engine: Promise<DuckdbEngine> | undefined;

  constructor(options: LazyEngineOptions) {
    this.#options = options;
  }

  /** A start that failed is tried again by the next caller. */
  open(): Promise<Engine> {
    const { temporaryDirectory, ...options } = this.#options;
    this.#engine ??= DuckdbEngine.open({ ...options, temporaryDirectory: temporaryDirectory ?? tmpdir() }).catch((error: unknown) => {
      this.#engine = undefined;
      throw error;
    });
    return this.#engine;
  }

  async close(): Promise<void> {
    const engine = await this.#engine?.catch(() => undefined);
    this.#engine = undefined;
    await engine?.close();
  }
}
