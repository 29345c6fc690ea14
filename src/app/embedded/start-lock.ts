import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { serviceError } from '../../base/errors.ts';
import { SystemClock } from '../../base/system-clock.ts';
import { processBirth } from './process-identity.ts';

const retryMs = 100;
const maxWaitMs = 120_000;

/**
 * Runs `action` while no other process starts or adopts the server of this directory. A lock whose holder is gone is taken over.
 *
 * @throws ServiceError `EMBEDDED_SERVER_LOCKED` (unavailable) after two minutes of waiting; `ABORTED`; whatever `action` throws.
 */
export async function withStartLock<T>(dir: string, signal: AbortSignal | undefined, action: () => Promise<T>): Promise<T> {
  const path = join(dir, 'start.lock');
  const clock = new SystemClock();
  const deadline = clock.monotonicMs() + maxWaitMs;
  while (!tryLock(path)) {
    if (clock.monotonicMs() > deadline) {
      throw serviceError.unavailable(
        'EMBEDDED_SERVER_LOCKED',
        `another process has been starting the server in ${dir} for more than ${maxWaitMs / 1000} s`,
        { hint: `stop that process, or delete ${path} when there is none` },
      );
    }
    await clock.sleep(retryMs, signal);
  }
  try {
    return await action();
  } finally {
    rmSync(path, { force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    const file = openSync(path, 'wx');
    writeSync(file, `${process.pid} ${processBirth(process.pid) ?? ''}`);
    closeSync(file);
    return true;
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
    if (holderIsGone(path)) rmSync(path, { force: true });
    return false;
  }
}

function holderIsGone(path: string): boolean {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    return false;
  }
  // An empty lock is one whose holder has not written its name yet, or died in that instant; waiting settles the first.
  if (text === '') return false;
  const [pid, birth] = text.split(' ');
  return processBirth(Number(pid)) !== birth;
}
