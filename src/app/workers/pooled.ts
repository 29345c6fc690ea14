import { isServiceError } from '../../base/errors.ts';
import type { StorageProperties } from '../../base/storage-settings.ts';
import type { ChangeEncoder, EncodeTask } from '../../protocol/change-event.ts';
import type { RecordDivider } from '../../protocol/division.ts';
import type { BatchStager, StageResult, StageTask } from '../../protocol/sealed-batch.ts';
import type { ChangeFile } from '../../table/changes.ts';
import type { FileRewriter } from '../../table/operations.ts';
import { endsThreads, stagePastStuck } from './stage-past-stuck.ts';
import { withPlainSettings } from './with-plain-settings.ts';
import { type SchemaSource, withSchemas } from './with-schemas.ts';
import type { WorkerPool } from './worker-pool.ts';

/** The ports of the services, answered by worker threads. */

type Pool = Pick<WorkerPool, 'run'>;

/** `schemas`: of the registry that payloads name schemas of; a pipeline without one has none. */
export function pooledStager(pool: Pool, schemas?: SchemaSource): BatchStager {
  const run = (task: StageTask, signal: AbortSignal | undefined): Promise<StageResult> =>
    stagePastStuck(task, (part) => pool.run('stage', part, { signal }));
  return {
    // The bytes are copied, not moved: a batch may have to be sent again, to another thread or with other settings of its store.
    stage: (task, signal) =>
      withPlainSettings(task.write.storage, (storage) =>
        withSchemas({ source: schemas, signal }, (known) =>
          run({ ...task, write: { ...task.write, storage }, decode: { ...task.decode, schemas: known } }, signal),
        ),
      ),
  };
}

/** A record batch that ends every thread that takes it is left unopened. */
export function pooledDivider(pool: Pool, source?: SchemaSource): RecordDivider {
  return {
    divide: async (task, signal) => {
      const unopened: number[] = [];
      for (;;) {
        try {
          return await withSchemas({ source, signal }, (schemas) => pool.run('divide', { ...task, unopened, schemas }, { signal }));
        } catch (error) {
          const stuckAt = isServiceError(error) && endsThreads.has(error.code) ? Number(error.context['step']) : undefined;
          if (stuckAt === undefined || unopened.length === task.batches.length) throw error;
          unopened.push(unopened.includes(stuckAt) ? task.batches.findIndex((_, index) => !unopened.includes(index)) : stuckAt);
        }
      }
    },
  };
}

export function pooledEncoder(pool: Pool): ChangeEncoder {
  return {
    encode: (task, signal) => withPlainSettings(settingsOf(task), (storage) => pool.run('encode', withStorage(task, storage), { signal })),
  };
}

export function pooledRewriter(pool: Pool): FileRewriter {
  return { rewrite: (task, signal) => pool.run('rewrite', task, { signal }) };
}

/** The files of a version are all of one table; those made for the reader lie on this machine and have none. */
function settingsOf({ changes }: EncodeTask): ChangeFile['storage'] {
  return changes.files.find((file) => file.storage !== undefined)?.storage;
}

function withStorage(task: EncodeTask, storage: StorageProperties | undefined): EncodeTask {
  if (storage === undefined) return task;
  const files = task.changes.files.map((file) => (file.storage === undefined ? file : { ...file, storage }));
  return { ...task, changes: { ...task.changes, files } };
}
