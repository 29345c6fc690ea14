// What the workloads share: the broker, directories, the peer, and how results leave.
import { appendFileSync, mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startEmbeddedKafka } from '../lib/dist.mjs';
import { findPeer } from '../lib/peer.mjs';
import { machineUse } from '../lib/process-tree.mjs';
import { sleep } from '../lib/util.mjs';

const root = resolve('.tidewater', 'bench');
const quietCores = 0.35;
const quietSampleMs = 1_500;
const quietSamples = 2;

/** Opened once a bench run. The broker starts when a workload first needs it; its data, once loaded, stay for the next time. */
export class BenchContext {
  #broker;
  #python;

  constructor(options) {
    this.options = options;
    this.root = root;
  }

  log(message) {
    console.error(`bench: ${message}`);
  }

  /** `{ brokers, pid }` of the real broker. */
  async broker() {
    this.#broker ??= await startEmbeddedKafka({ dir: join(root, 'kafka'), log: (message) => this.log(message) });
    return this.#broker;
  }

  /** The peer's interpreter, or `undefined`. */
  peer() {
    if (this.options.peer === false) return undefined;
    this.#python ??= { path: findPeer((message) => this.log(message)) };
    return this.#python.path;
  }

  /** An empty directory of this name. */
  freshDir(name) {
    const dir = join(root, name);
    rmSync(dir, { recursive: true, force: true });
    mkdirSync(dir, { recursive: true });
    return dir;
  }

  /** Waits until the rest of the machine is idle, at most `--patience` seconds. */
  async quiet() {
    const deadline = Date.now() + this.options.patienceSeconds * 1000;
    for (let calm = 0; calm < quietSamples && Date.now() < deadline; ) {
      const before = machineUse();
      await sleep(quietSampleMs);
      const after = machineUse();
      const cores = (after.busy - before.busy - (after.driver - before.driver)) / ((after.atMs - before.atMs) / 1000);
      calm = cores < quietCores ? calm + 1 : 0;
    }
  }

  /** One JSON line on stdout, and in the file of `--out`. */
  emit(result) {
    const line = JSON.stringify(result);
    console.log(line);
    if (this.options.out !== undefined) appendFileSync(this.options.out, `${line}\n`);
  }

  /** A table for people, on stderr. */
  table(rows) {
    const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
    const cells = [columns, ...rows.map((row) => columns.map((column) => display(row[column])))];
    const widths = columns.map((_, index) => Math.max(...cells.map((row) => row[index].length)));
    for (const row of cells) console.error(row.map((cell, index) => cell.padStart(widths[index])).join('  '));
  }

  async close() {
    await this.#broker?.stop();
  }
}

function display(value) {
  if (value === undefined || value === null) return '-';
  if (typeof value === 'number') return Math.abs(value) >= 1000 ? Math.round(value).toLocaleString('en') : String(Number(value.toFixed(2)));
  return String(value);
}
