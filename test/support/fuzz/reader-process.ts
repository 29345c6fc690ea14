import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Answers } from './questions.ts';

/** Longest a reader may take over one damaged table; sound ones of this size take a tenth of a second. */
const limitMs = 30_000;

export type Reading =
  | { readonly kind: 'answered'; readonly answers: Answers; readonly residentBytes: number }
  | { readonly kind: 'crashed'; readonly how: string }
  | { readonly kind: 'hung' };

/** A reader in a process of its own, started anew after it crashed or hung. */
export class ReaderProcess {
  #child: ChildProcess | undefined;
  #errors = '';

  async read(directory: string): Promise<Reading> {
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve) => {
      const done = (reading: Reading): void => {
        clearTimeout(timer);
        child.removeAllListeners();
        if (reading.kind !== 'answered') this.#drop();
        resolve(reading);
      };
      const timer = setTimeout(() => {
        done({ kind: 'hung' });
      }, limitMs);
      child.once('message', (message) => {
        done({ kind: 'answered', ...(message as { readonly answers: Answers; readonly residentBytes: number }) });
      });
      child.once('exit', (code, signal) => {
        done({ kind: 'crashed', how: `${signal ?? `code ${String(code)}`}: ${this.#errors.slice(-2000)}` });
      });
      child.send(directory);
    });
  }

  close(): void {
    this.#drop();
  }

  #drop(): void {
    this.#child?.kill('SIGKILL');
    this.#child = undefined;
  }

  async #start(): Promise<ChildProcess> {
    const child = fork(fileURLToPath(new URL('./reader-child.ts', import.meta.url)), {
      execArgv: ['--import', fileURLToPath(new URL('../run-typescript.mjs', import.meta.url)), '--max-old-space-size=512'],
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    this.#errors = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#errors = `${this.#errors}${chunk.toString()}`.slice(-10_000);
    });
    await new Promise((resolve, reject) => {
      child.once('message', resolve);
      child.once('exit', (code) => {
        reject(new Error(`the reader ended with ${String(code)} before it began: ${this.#errors}`));
      });
    });
    child.removeAllListeners();
    this.#child = child;
    return child;
  }
}
