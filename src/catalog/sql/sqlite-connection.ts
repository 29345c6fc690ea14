import type Database from 'libsql';
import { throwIfAborted } from '../../base/abort.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { randomInt } from '../../base/random.ts';
import { rowOf } from './row-values.ts';
import type { SqlConnection, SqlRow, SqlValue } from './sql-connection.ts';
import { sqlError } from './sql-errors.ts';

export interface SqliteConnectionOptions {
  /** Path of the database file, or `:memory:`. Made when missing. */
  readonly path: string;
  /** How long to wait for locks of others. Default 10 s. */
  readonly busyTimeoutMs?: number | undefined;
  readonly clock: Clock;
  readonly random: Random;
}

type Handle = InstanceType<typeof Database>;

const defaultBusyTimeoutMs = 10_000;
const minBusyWaitMs = 2;
const maxBusyWaitMs = 50;

/**
 * A SQLite file, locked as all SQLite programs lock it; the journal mode stays as it is found. A statement runs on the calling thread for
 * as long as the disk takes, but waits for locks outside of it.
 */
export class SqliteConnection implements SqlConnection {
  readonly dialect = 'sqlite';
  readonly shown: string;
  readonly #options: SqliteConnectionOptions;
  #database: Handle | undefined;

  constructor(options: SqliteConnectionOptions) {
    this.shown = `sqlite:${options.path}`;
    this.#options = options;
  }

  async query(statement: string, values: readonly SqlValue[], signal?: AbortSignal): Promise<readonly SqlRow[]> {
    return await this.#unlocked({ writes: false, signal }, (database) =>
      database
        .prepare(statement)
        .all([...values.map(orNull)])
        .map(rowOf),
    );
  }

  async execute(statement: string, values: readonly SqlValue[], signal?: AbortSignal): Promise<number> {
    return await this.#unlocked({ writes: true, signal }, (database) => database.prepare(statement).run([...values.map(orNull)]).changes);
  }

  close(): Promise<void> {
    this.#database?.close();
    this.#database = undefined;
    return Promise.resolve();
  }

  /** A statement that finds a lock has changed nothing: it is repeated until the lock is gone. */
  async #unlocked<T>(
    options: { readonly writes: boolean; readonly signal: AbortSignal | undefined },
    run: (database: Handle) => T,
  ): Promise<T> {
    const { clock, random, busyTimeoutMs = defaultBusyTimeoutMs } = this.#options;
    const deadline = clock.monotonicMs() + busyTimeoutMs;
    const Driver = await loadDriver();
    for (;;) {
      throwIfAborted(options.signal);
      try {
        return this.#inTransaction(Driver, options.writes, run);
      } catch (error) {
        const failure = failureOf(error, options.writes);
        if (failure !== 'busy') throw sqlError(failure, this.shown, messageOf(error), error);
        if (clock.monotonicMs() >= deadline) {
          throw sqlError('unavailable', this.shown, `locked by others for ${busyTimeoutMs} ms`, error);
        }
      }
      await clock.sleep(minBusyWaitMs + randomInt(random, maxBusyWaitMs - minBusyWaitMs), options.signal);
    }
  }

  /**
   * Takes the lock by itself first: a prepared statement that meets another's lock is left half run by the driver, and from then on nothing
   * that this connection takes is given back.
   */
  #inTransaction<T>(Driver: typeof Database, writes: boolean, run: (database: Handle) => T): T {
    this.#database ??= new Driver(this.#options.path, { timeout: 0 });
    const database = this.#database;
    try {
      database.exec(writes ? 'BEGIN IMMEDIATE' : 'BEGIN');
      if (!writes) database.exec('SELECT 1 FROM sqlite_master LIMIT 1');
      const result = run(database);
      database.exec('COMMIT');
      return result;
    } catch (error) {
      this.#rollBack(database);
      throw error;
    }
  }

  #rollBack(database: Handle): void {
    try {
      if (database.inTransaction) database.exec('ROLLBACK');
    } catch {
      // Ended with the connection.
      database.close();
      this.#database = undefined;
    }
  }
}

/** Loaded by those who have such a catalog: it is slow to start with. */
async function loadDriver(): Promise<typeof Database> {
  return (await import('libsql')).default;
}

function failureOf(error: unknown, writes: boolean): 'busy' | 'duplicate' | 'unavailable' | 'unknown' | 'refused' {
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/^SQLITE_(BUSY|LOCKED)/.test(code)) return 'busy';
  if (code.startsWith('SQLITE_CONSTRAINT')) return 'duplicate';
  // A disk that fails may do so after the journal, and with it the way back, is gone.
  if (code.startsWith('SQLITE_IOERR') && writes) return 'unknown';
  if (/^SQLITE_(CANTOPEN|IOERR|FULL|READONLY|NOTADB|CORRUPT|PERM)/.test(code)) return 'unavailable';
  return code === '' && messageOf(error).startsWith('ConnectionFailed') ? 'unavailable' : 'refused';
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function orNull(value: SqlValue): string | null {
  return value ?? null;
}
