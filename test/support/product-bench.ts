import { afterAll, afterEach, beforeAll } from 'vitest';
import { ProductProcess, type RunOptions } from './process.ts';
import { type IcebergKind, type PipelineCase, Workload } from './process-workload.ts';
import { removeDirectory, temporaryDirectory } from './servers.ts';

export interface TableKind {
  readonly label: string;
  readonly iceberg?: IcebergKind | undefined;
}

export const deltaTable: TableKind = { label: 'delta' };
export const icebergInDatabase: TableKind = { label: 'sql', iceberg: { kind: 'sql' } };

/** One catalog stands for Iceberg: what differs between them is the swap alone. */
export const bothFormats: readonly (readonly [name: string, kind: TableKind])[] = [
  ['a Delta table', deltaTable],
  ['an Iceberg table of an SQL catalog', icebergInDatabase],
];

export interface ProductBench {
  readonly dir: string;
  readonly workload: Workload;
  /** Starts a process that serves; it is killed after the test, if it still runs. */
  readonly serve: (pipeline: Pick<PipelineCase, 'config'>, options?: Partial<RunOptions>) => ProductProcess;
  /** Kills what still runs now. */
  readonly killAll: () => Promise<void>;
}

/** A directory, a client of the broker and processes, for the tests of the `describe` block it is called in. */
export function productBench(name: string): ProductBench {
  const dir = temporaryDirectory(name);
  const workload = new Workload();
  const running: ProductProcess[] = [];
  beforeAll(() => workload.connect());
  const killAll = async (): Promise<void> => {
    await Promise.all(running.splice(0).map((started) => started.kill()));
  };
  afterEach(killAll);
  afterAll(async () => {
    await workload.close();
    removeDirectory(dir);
  });
  return {
    dir,
    workload,
    killAll,
    serve: ({ config }, options = {}) => {
      const started = new ProductProcess({ config, ...options, args: ['serve', ...(options.args ?? [])] });
      running.push(started);
      return started;
    },
  };
}
