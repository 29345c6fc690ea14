import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { IdSource } from '../../base/ids.ts';
import type { Engine } from '../../engine/engine.ts';
import type { Relation } from '../../table/relation.ts';

/** A file made for one reader. */
export interface ScratchFile {
  readonly directory: string;
  readonly path: string;
  readonly sizeBytes: number;
  readonly rowCount: number;
}

const suffix = '.changes.parquet';
/** What a process that died has left behind is deleted by the next one that writes here. */
const abandonedMs: number = 24 * 3_600_000;

/** Files of a local directory that live for as long as somebody reads them. */
export class ScratchFiles {
  readonly #directory: string | undefined;
  readonly #ids: IdSource;
  readonly #clock: Clock;
  #swept = false;

  constructor(options: { readonly directory: string | undefined; readonly ids: IdSource; readonly clock: Clock }) {
    this.#directory = options.directory;
    this.#ids = options.ids;
    this.#clock = options.clock;
  }

  /**
   * Writes the rows, in their order, to one file; `undefined` without rows.
   *
   * @throws ServiceError `CDF_UNSUPPORTED` (unsupported) without a directory, `ENGINE_DISK_FULL` (unavailable) and what the engine throws.
   */
  async write(engine: Engine, rows: Relation, signal: AbortSignal | undefined): Promise<ScratchFile | undefined> {
    const directory = this.#directory;
    if (directory === undefined) throw noDirectory();
    await this.#sweep(directory);
    const path = `${this.#ids.uuid()}${suffix}`;
    const [written] = await engine.writeParquet(rows, { directory, pathOf: () => path, partitionBy: [], compression: 'snappy' }, signal);
    return written === undefined ? undefined : { directory, path, sizeBytes: written.sizeBytes, rowCount: written.rowCount };
  }

  /** Never throws: what stays is swept later. */
  async delete(files: readonly ScratchFile[]): Promise<void> {
    for (const { directory, path } of files) await rm(join(directory, path), { force: true }).catch(() => undefined);
  }

  async #sweep(directory: string): Promise<void> {
    if (this.#swept) return;
    this.#swept = true;
    const names = await readdir(directory).catch((): string[] => []);
    for (const name of names.filter((candidate) => candidate.endsWith(suffix))) {
      const place = join(directory, name);
      const info = await stat(place).catch(() => undefined);
      if (info !== undefined && this.#clock.now() - info.mtimeMs > abandonedMs) await rm(place, { force: true }).catch(() => undefined);
    }
  }
}

function noDirectory(): ServiceError {
  return serviceError.unsupported(
    'CDF_UNSUPPORTED',
    'changes that have to be computed need a directory for temporary files, and none was given',
    { hint: 'set maintenance.engine.temporaryDirectory' },
  );
}
