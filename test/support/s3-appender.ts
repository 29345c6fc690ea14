import { RandomIdSource } from '../../src/base/ids.ts';
import { SystemClock } from '../../src/base/system-clock.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import { silentCommitObserver } from '../../src/commit/commit-observer.ts';
import { TableCommitter } from '../../src/commit/table-committer.ts';
import { DeltaTables } from '../../src/delta/delta-tables.ts';
import type { ObjectStore } from '../../src/storage/object-store.ts';
import { objectStoreOpener } from '../../src/storage/open-object-store.ts';
import { RetryingObjectStore } from '../../src/storage/retrying-object-store.ts';
import { toCommitId } from '../../src/table/commit.ts';

/**
 * A process of its own that commits appends to a Delta table in an object store, as the pipeline does: `s3-appender.ts <location> <writer>
 * <count> <properties as JSON>`. Each commit names a file of one byte, and moves the writer's mark by one. Prints
 * `{"committed":n,"unknown":m}`.
 */
const [location = '', writer = '', count = '0', properties = '{}'] = process.argv.slice(2);
const clock = new SystemClock();
const random = new SystemRandom();
const ids = new RandomIdSource(random);
const open = objectStoreOpener({ clock, ids, properties: JSON.parse(properties) as Record<string, string> });
const openStore = (at: string): ObjectStore => new RetryingObjectStore(open(at), { clock, random });
const rewriter = { rewrite: () => Promise.reject(new TypeError('not used')) };
const tables = new DeltaTables({ openStore, clock, random, ids, version: 'test', rewriter });
const store = openStore(location);
const table = await tables.open('appended', location);
if (table === undefined) throw new TypeError(`no table at ${location}`);
let unknown = 0;
const committer = new TableCommitter({
  table,
  clock,
  random,
  observer: {
    ...silentCommitObserver,
    attempt: (result) => {
      if (result === 'unknown') unknown += 1;
    },
  },
  settings: { maxRebaseAttempts: 1_000, verifyTimeoutMs: 30_000, backoff: { initialMs: 5, maxMs: 100 } },
});
for (let index = 0; index < Number(count); index++) {
  const file = { path: `${writer}-${index}.parquet`, partitionValues: {}, sizeBytes: 1, rowCount: 1, modifiedMs: 1, statistics: [] };
  await store.put(file.path, new Uint8Array(1));
  const progress = [{ writerId: writer, from: index === 0 ? undefined : BigInt(index), until: BigInt(index + 1) }];
  const intent = { commitId: toCommitId(ids.uuid()), files: [file], progress, userMetadata: '' };
  const result = await committer.commit(intent, table.writeSpec(await committer.base()));
  if (result.kind !== 'committed') throw new TypeError(`commit ${index} of ${writer}: ${result.reason}`);
}
console.log(JSON.stringify({ committed: Number(count), unknown }));
