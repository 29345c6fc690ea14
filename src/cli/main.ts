#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { productVersion } from '../app/package.ts';
import { describeError } from '../base/errors.ts';
import { exitCodes } from './exit-code.ts';
import { runCli } from './run-cli.ts';

/** Exit code of a process ended by a second interrupt, as shells count it. */
const interruptedCode = 130;

/** A parent such as npm passes on the interrupt that the terminal has sent already: signals this close are one. */
const sameSignalMs = 1_000;

const stop = new AbortController();
let askedAtMs = 0;
for (const name of ['SIGINT', 'SIGTERM'] as const) {
  process.on(name, () => {
    // The first asks to finish what is under way, the second insists.
    if (!stop.signal.aborted) askedAtMs = performance.now();
    else if (performance.now() - askedAtMs > sameSignalMs) process.exit(interruptedCode);
    stop.abort(name);
  });
}
// A reader that goes away (`| head`) is no failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  process.exit(error.code === 'EPIPE' ? exitCodes.ok : exitCodes.failure);
});
process.on('unhandledRejection', (error) => {
  process.stderr.write(`error ${describeError(error)}\n${error instanceof Error ? (error.stack ?? '') : ''}\n`);
  process.exit(exitCodes.failure);
});

process.exitCode = await runCli(process.argv.slice(2), {
  env: process.env,
  workingDir: process.cwd(),
  readText: (path) => readFileSync(path, 'utf8'),
  signal: stop.signal,
  out: (text) => writeTo(process.stdout, text),
  outBytes: (bytes) => writeTo(process.stdout, bytes),
  err: (text) => writeTo(process.stderr, text),
  outIsTerminal: process.stdout.isTTY,
  errIsTerminal: process.stderr.isTTY,
  // Prompts stay out of a result that goes to a file.
  input: { stream: process.stdin, isTerminal: process.stdin.isTTY, echo: process.stdout.isTTY ? process.stdout : process.stderr },
  loadApp: async () => (await import('../app/commands.ts')).createAppCommands(),
  version: productVersion,
});
// Exit by hand only after all output is written: worker threads or sockets left open must not keep a finished command alive.
await Promise.all([writeTo(process.stdout, ''), writeTo(process.stderr, '')]);
process.exit();

function writeTo(stream: NodeJS.WriteStream, text: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    stream.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}
