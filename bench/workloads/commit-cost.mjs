// Commit cost: what a commit of one file takes at version 10 and at version 10,000 of a table that kept all its files.
import { join } from 'node:path';
import { newId, openTable } from '../lib/dist.mjs';
import { median, round, sleep } from '../lib/util.mjs';

const young = 10;
const old = 10_000;
const windowVersions = 60;
// In between checkpoints are written less often than by default, to save the bench minutes; in the measured windows by the rule.
const fillCheckpointEvery = 500;
const schema = {
  kind: 'struct',
  fields: [
    { name: 'order_id', type: { kind: 'long' }, nullable: true },
    { name: 'amount', type: { kind: 'double' }, nullable: true },
    { name: 'status', type: { kind: 'string' }, nullable: true },
  ],
};

export async function runCommitCost(context) {
  const location = join(context.freshDir('commit-cost'), 'table');
  const table = await openTable(location, { create: { schema, partitionColumns: [], properties: { 'delta.enableChangeDataFeed': 'true' } } });
  const writer = new Writer(table);
  await writer.start();
  await writer.fillTo(young);
  const atYoung = await writer.measure(windowVersions);
  context.log(`filling the log up to version ${old.toLocaleString('en')}`);
  await writer.fillTo(old);
  const atOld = await writer.measure(windowVersions);
  const openedMs = performance.now();
  const { version, fileCount } = await (await openTable(location)).refresh();
  const coldOpenMs = performance.now() - openedMs;
  const result = {
    workload: 'commit-cost',
    msAtVersion10: round(atYoung, 2),
    msAtVersion10000: round(atOld, 2),
    ratio: round(atOld / atYoung, 2),
    coldOpenMs: round(coldOpenMs, 1),
    version,
    fileCount,
  };
  context.emit(result);
  context.table([result]);
}

/** Commits as the pipeline's committer does: one attempt, then the view of the version made. */
class Writer {
  #table;
  #base;
  #mark = 0n;

  constructor(table) {
    this.#table = table;
  }

  async start() {
    this.#base = await this.#table.refresh();
  }

  async fillTo(version) {
    while (this.#base.version < version) {
      await this.#commit();
      if (this.#base.version % fillCheckpointEvery === 0) await this.#table.afterCommit(this.#base.version);
    }
  }

  /** Median milliseconds of the next commits; what a commit leaves behind to do is done between them, as off the commit path. */
  async measure(commits) {
    const times = [];
    for (let count = 0; count < commits; count += 1) {
      times.push(await this.#commit());
      await this.#table.afterCommit(this.#base.version);
      await sleep(5);
    }
    return median(times);
  }

  async #commit() {
    const from = this.#mark === 0n ? undefined : this.#mark;
    const intent = {
      commitId: newId(),
      files: [stagedFile(Number(this.#mark))],
      progress: [{ writerId: 'bench:orders:0', from, until: this.#mark + 1000n }],
      userMetadata: '',
    };
    const startedMs = performance.now();
    const outcome = await this.#table.tryAppend(this.#base, intent);
    if (outcome.kind !== 'committed') throw new Error(`bench: commit ended as ${outcome.kind}`);
    this.#base = await this.#table.refresh();
    this.#mark += 1000n;
    return performance.now() - startedMs;
  }
}

/** The log alone is measured: the file it names need not exist. */
function stagedFile(firstId) {
  const column = (path, type, min, max) => ({ path: [path], type, nullCount: 0, min, max });
  return {
    path: `part-00000-${newId()}.c000.zstd.parquet`,
    partitionValues: {},
    sizeBytes: 52_431,
    rowCount: 1_000,
    modifiedMs: Date.now(),
    statistics: [
      column('order_id', { kind: 'long' }, BigInt(firstId), BigInt(firstId + 999)),
      column('amount', { kind: 'double' }, 0.01, 999.5),
      column('status', { kind: 'string' }, 'created', 'shipped'),
    ],
  };
}
