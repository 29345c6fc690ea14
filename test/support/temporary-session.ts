import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSession, type Session } from '../../src/app/session.ts';

export interface TemporarySession {
  readonly session: Session;
  /** A directory of its own: the warehouse is in it. */
  readonly directory: string;
  /** What `show` and its kin printed. */
  readonly printed: string[];
  [Symbol.asyncDispose](): Promise<void>;
}

/** A session with a warehouse in a temporary directory; both go with `await using`. */
export async function temporarySession(config: Readonly<Record<string, string | boolean>> = {}): Promise<TemporarySession> {
  const directory = await mkdtemp(join(tmpdir(), 'tidewater-session-'));
  const printed: string[] = [];
  const session = createSession({
    config: { 'spark.sql.warehouse.dir': join(directory, 'warehouse'), 'tidewater.engine.threads': '2', ...config },
    print: (text) => {
      printed.push(text);
    },
  });
  return {
    session,
    directory,
    printed,
    [Symbol.asyncDispose]: async () => {
      await session.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}
