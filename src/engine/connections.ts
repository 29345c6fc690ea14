import type { DuckDBConnection, DuckDBInstance } from '@duckdb/node-api';
import { throwIfAborted } from '../base/abort.ts';
import { serviceError } from '../base/errors.ts';
import { engineError } from './engine-errors.ts';

const maxConnections = 128;
const maxIdleConnections = 16;

/**
 * Connections of one instance, taken for one statement or one stream at a time. There is no waiting: a stream that is read while others
 * are opened would wait for itself.
 */
export class Connections {
  readonly #instance: DuckDBInstance;
  readonly #settings: readonly string[];
  readonly #idle: DuckDBConnection[] = [];
  readonly #taken = new Set<DuckDBConnection>();
  /** By the view that reads them. */
  readonly #scanned = new Map<string, readonly string[]>();
  #closed = false;

  /** `settings`: statements every connection begins with. */
  constructor(instance: DuckDBInstance, settings: readonly string[]) {
    this.#instance = instance;
    this.#settings = settings;
  }

  /**
   * Runs `work` on a connection of its own; a fired signal interrupts whatever the connection executes.
   *
   * @param sql what it reads from: errors name the files.
   * @throws ServiceError what the engine's error means (engine-errors.ts).
   */
  async use<T>(work: (connection: DuckDBConnection) => Promise<T>, signal?: AbortSignal, sql = ''): Promise<T> {
    const lease = await this.take(signal);
    try {
      const result = await work(lease.connection);
      lease.giveBack();
      return result;
    } catch (error) {
      lease.giveBack();
      throw engineError(error, signal, this.filesIn(sql));
    }
  }

  /** A connection until it is given back, or discarded where it may still be executing. */
  async take(signal?: AbortSignal): Promise<Lease> {
    throwIfAborted(signal);
    if (this.#closed) throw serviceError.invalid('ENGINE_CLOSED', 'the engine is closed');
    if (this.#taken.size >= maxConnections) {
      throw serviceError.unavailable('ENGINE_BUSY', `${maxConnections} queries are running already`, {
        hint: 'read results to their end, or stop reading them, before starting more queries',
      });
    }
    const connection = this.#idle.pop() ?? (await this.#connect());
    this.#taken.add(connection);
    const interrupt = (): void => {
      connection.interrupt();
    };
    signal?.addEventListener('abort', interrupt, { once: true });
    const end = (): void => {
      signal?.removeEventListener('abort', interrupt);
      this.#taken.delete(connection);
    };
    return {
      connection,
      giveBack: () => {
        end();
        if (this.#closed || this.#idle.length >= maxIdleConnections) connection.disconnectSync();
        else this.#idle.push(connection);
      },
      discard: () => {
        end();
        connection.interrupt();
        connection.disconnectSync();
      },
    };
  }

  /** Remembers what a view reads, for as long as it is there. */
  scans(view: string, files: readonly string[] | undefined): void {
    if (files === undefined) this.#scanned.delete(view);
    else this.#scanned.set(view, files);
  }

  /** Files that a query reads: the engine does not say which of them it could not read. */
  filesIn(sql: string): readonly string[] {
    const names = new Set(sql.match(/\bheld\.scan_\d+/gu) ?? []);
    return Array.from(names).flatMap((view) => this.#scanned.get(view) ?? []);
  }

  /** Interrupts what runs, and disconnects. */
  close(): void {
    this.#closed = true;
    for (const connection of this.#taken) connection.interrupt();
    for (const connection of this.#idle.splice(0)) connection.disconnectSync();
  }

  async #connect(): Promise<DuckDBConnection> {
    try {
      const connection = await this.#instance.connect();
      for (const setting of this.#settings) await connection.run(setting);
      return connection;
    } catch (error) {
      throw engineError(error);
    }
  }
}

export interface Lease {
  readonly connection: DuckDBConnection;
  readonly giveBack: () => void;
  readonly discard: () => void;
}
