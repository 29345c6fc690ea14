import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { throwIfAborted } from '../../base/abort.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';

const tailBytes = 4_096;

export interface CommandOptions {
  readonly cwd?: string | undefined;
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a program to its end; resolves with the last 4 KiB of its output (both streams).
 *
 * @throws ServiceError `COMMAND_FAILED` (unavailable) with that output in the message; `ABORTED`.
 */
export async function runCommand(command: string, args: readonly string[], options: CommandOptions = {}): Promise<string> {
  throwIfAborted(options.signal);
  return await new Promise((resolve, reject) => {
    let tail = '';
    const child = spawn(command, args, {
      cwd: options.cwd,
      env: options.env ?? process.env,
      stdio: ['ignore', 'pipe', 'pipe'],
      signal: options.signal,
    });
    const keep = (chunk: Buffer): void => {
      tail = (tail + chunk.toString('utf8')).slice(-tailBytes);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.once('error', (cause) => {
      reject(commandFailed(command, cause.message, cause));
    });
    child.once('close', (code, signal) => {
      if (code === 0) resolve(tail);
      else reject(commandFailed(command, `exit ${code ?? signal ?? 'unknown'}: ${tail.trim()}`, undefined));
    });
  });
}

/** The absolute path of a program on the PATH; `undefined` when there is none. */
export function findOnPath(program: string, path: string = process.env['PATH'] ?? ''): string | undefined {
  return path
    .split(delimiter)
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find(isExecutable);
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function commandFailed(command: string, detail: string, cause: unknown): ServiceError {
  return serviceError.unavailable('COMMAND_FAILED', `${command}: ${detail}`, { cause });
}
