import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** Operations on a table (writer INT, n INT), one version each: rows `(writer, 0 … count-1)` appended, or the `n` of writer 0 incremented. */
export interface RaceTask {
  readonly path: string;
  readonly what: 'append' | 'increment';
  readonly writer: number;
  readonly count: number;
}

export interface RaceResult {
  readonly done: number;
  /** Names of the errors of attempts that lost. */
  readonly lost: readonly string[];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A session of ours in a process of its own (`racing-session.ts`), given one task at a time. */
export class RacingProcess {
  readonly #child: ChildProcess;
  readonly #results: AsyncIterator<string>;
  readonly #ended: Promise<unknown>;
  #complaints = '';

  private constructor() {
    const script = join(root, 'test', 'engines', 'support', 'racing-session.ts');
    const hooks = join(root, 'test', 'support', 'run-typescript.mjs');
    this.#child = spawn(process.execPath, ['--import', hooks, script], { cwd: root, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#ended = once(this.#child, 'exit');
    if (this.#child.stdout === null || this.#child.stderr === null) throw new Error('the process has no pipes');
    this.#results = createInterface({ input: this.#child.stdout })[Symbol.asyncIterator]();
    this.#child.stderr.on('data', (data: Buffer) => {
      this.#complaints += data.toString();
    });
  }

  static start(): RacingProcess {
    return new RacingProcess();
  }

  /** @throws what the process printed when it ended instead. */
  async run(task: RaceTask): Promise<RaceResult> {
    this.#child.stdin?.write(`${JSON.stringify(task)}\n`);
    const result = await this.#results.next();
    if (result.done === true) throw new Error(`the process ended: ${this.#complaints}`);
    return JSON.parse(result.value) as RaceResult;
  }

  async stop(): Promise<void> {
    this.#child.stdin?.end();
    await this.#ended;
  }
}
