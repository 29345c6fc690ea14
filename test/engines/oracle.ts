import { once } from 'node:events';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { Engines } from './engines.ts';

export type OracleEngine = 'delta-rs' | 'duckdb' | 'spark';

/** A row in the canonical form of oracle/canon.py: 64-bit numbers beyond the safe range, decimals and times are text. */
export type CanonicalRow = Readonly<Record<string, unknown>>;

/** Engines that read Iceberg tables. */
export type IcebergReader = 'pyiceberg' | 'duckdb' | 'spark';

/** One reading of an Iceberg table. Path: its directory; for Spark also its name in a catalog of the session. */
export interface IcebergReading {
  readonly what: 'rows' | 'schema' | 'history' | 'changes';
  readonly path: string;
  readonly ref?: string | undefined;
  readonly snapshot_id?: string | undefined;
  readonly filter?: string | undefined;
  /** Of changes: after this snapshot, up to that one. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly identifier_columns?: readonly string[] | undefined;
  readonly net_changes?: boolean | undefined;
  readonly compute_updates?: boolean | undefined;
}

/** What an engine answered to a reading: rows, or its refusal. */
export type Reading = { readonly rows: readonly CanonicalRow[] } | { readonly error: OracleError };

/** Statements for Spark, with settings that hold for them alone. */
export interface SparkScript {
  readonly statements: readonly string[];
  /** Those of the statements whose rows are wanted. */
  readonly queries: readonly string[];
  readonly conf?: Readonly<Record<string, string>> | undefined;
}

/** What Spark made of one statement: the columns are names with types. */
export interface ScriptAnswer {
  readonly columns?: readonly string[];
  readonly rows?: readonly CanonicalRow[];
  readonly error?: { readonly condition?: string; readonly message?: string; readonly python?: string };
}

/** One operation of pyiceberg on a table of a catalog (oracle/pyiceberg_ops.py). */
export type PyIcebergOperation = Readonly<Record<string, unknown>> & {
  readonly catalog: Readonly<Record<string, string>>;
  readonly table: string;
  readonly op:
    | 'create'
    | 'view'
    | 'append'
    | 'append_copy'
    | 'overwrite'
    | 'dynamic_overwrite'
    | 'delete'
    | 'upsert'
    | 'add_column'
    | 'rename_column'
    | 'add_partition'
    | 'tag'
    | 'expire'
    | 'set_properties';
};

/** What an engine answered to a statement it refused. */
export class OracleError extends Error {
  readonly condition: string | undefined;

  constructor(error: { readonly condition?: string; readonly message?: string; readonly python?: string }) {
    super(`${error.condition ?? error.python ?? ''}: ${error.message ?? ''}`);
    this.name = 'OracleError';
    this.condition = error.condition;
  }
}

export interface ReadRange {
  readonly version?: number | undefined;
  readonly filter?: string | undefined;
}

interface Answer {
  readonly id: number;
  readonly ok: boolean;
  readonly rows?: readonly CanonicalRow[];
  readonly error?: ConstructorParameters<typeof OracleError>[0];
}

/** One operation of delta-rs, with what it takes (oracle/delta_rs_ops.py). */
export type DeltaRsOperation = Readonly<Record<string, unknown>> & {
  readonly op:
    | 'append'
    | 'overwrite'
    | 'delete'
    | 'update'
    | 'merge'
    | 'compact'
    | 'z_order'
    | 'restore'
    | 'checkpoint'
    | 'add_constraint'
    | 'set_properties'
    | 'append_many';
};

/** The variable that names the loopback port of an oracle which all files of a run share (`support/global-oracle.ts` sets it). */
export const oraclePortVariable = 'TIDEWATER_ORACLE_PORT';

interface Conversation {
  readonly questions: Writable;
  readonly answers: Readable;
  readonly ended: Promise<unknown>;
  /** What the process complained of lately. */
  readonly complaints: () => string;
}

const maxComplaints = 40;

/**
 * Other engines in one long-lived process, asked one thing at a time. Spark starts with its first question (some ten seconds).
 */
export class Oracle {
  readonly #conversation: Conversation;
  readonly #waiting = new Map<number, (answer: Answer) => void>();
  #lastId = 0;

  private constructor(conversation: Conversation) {
    this.#conversation = conversation;
    createInterface({ input: conversation.answers }).on('line', (line) => {
      const answer = JSON.parse(line) as Answer;
      this.#waiting.get(answer.id)?.(answer);
      this.#waiting.delete(answer.id);
    });
    void conversation.ended.then(() => {
      for (const [id, answered] of this.#waiting) answered({ id, ok: false, error: { message: `ended: ${conversation.complaints()}` } });
      this.#waiting.clear();
    });
  }

  /** Speaks with the oracle that the run shares, or starts one of its own. */
  static start(engines: Engines): Oracle {
    const port = process.env[oraclePortVariable] ?? '';
    return new Oracle(port === '' ? withProcess(engines) : withPort(Number(port)));
  }

  rows(engine: OracleEngine, path: string, range: ReadRange = {}): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'rows', engine, path, ...range });
  }

  schema(engine: OracleEngine, path: string, range: ReadRange = {}): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'schema', engine, path, ...range });
  }

  history(engine: 'delta-rs' | 'spark', path: string): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'history', engine, path });
  }

  /** Row changes of the versions, both ends included, without `_commit_timestamp`, which engines define differently. */
  async changes(
    engine: 'delta-rs' | 'spark',
    path: string,
    range: { readonly from: number; readonly to?: number },
  ): Promise<CanonicalRow[]> {
    const rows = await this.#ask({
      cmd: 'changes',
      engine,
      path,
      from: String(range.from),
      to: range.to === undefined ? undefined : String(range.to),
    });
    return rows.map((row) => Object.fromEntries(Object.entries(row).filter(([name]) => name !== '_commit_timestamp')));
  }

  /** What is wrong with the table's log, files, statistics and checkpoints: empty when nothing is. Warnings are left out. */
  async check(
    path: string,
    options: { readonly allowOrphans?: boolean; readonly format?: 'delta' | 'iceberg' } = {},
  ): Promise<readonly CanonicalRow[]> {
    const findings = await this.#ask({ cmd: 'check', path, ...options });
    return findings.filter((finding) => finding['level'] === 'error');
  }

  /** Runs statements in Spark; the rows of the last one. */
  sql(...statements: readonly string[]): Promise<readonly CanonicalRow[]> {
    return this.#ask({ cmd: 'sql', engine: 'spark', sql: statements });
  }

  /** Runs statements in Spark, those after a refused one too: what each gave. Rows come of those that are queries only. */
  async script(asked: SparkScript): Promise<readonly ScriptAnswer[]> {
    const { statements: sql, queries, conf } = asked;
    return await this.#ask({ cmd: 'script', engine: 'spark', sql, queries, conf });
  }

  /** Settings of this conversation's Spark session, catalogs among them. */
  async configureSpark(conf: Readonly<Record<string, string>>): Promise<void> {
    await this.#ask({ cmd: 'sql', engine: 'spark', sql: [], conf, keep_conf: true });
  }

  /** Many readings of Iceberg tables by one engine, in one question. */
  async readIceberg(engine: IcebergReader, asked: readonly IcebergReading[]): Promise<readonly Reading[]> {
    const answers = await this.#ask({ cmd: 'survey', engine, format: 'iceberg', asked });
    return answers.map((answer) =>
      'error' in answer
        ? { error: new OracleError(answer['error'] as ConstructorParameters<typeof OracleError>[0]) }
        : { rows: answer['rows'] as readonly CanonicalRow[] },
    );
  }

  /** Lets pyiceberg change a table, or tell of a view. */
  async pyiceberg(operation: PyIcebergOperation): Promise<readonly CanonicalRow[]> {
    return await this.#ask({ cmd: 'pyiceberg', ...operation });
  }

  /** Writes rows with delta-rs. */
  async writeWithDeltaRs(path: string, rows: readonly CanonicalRow[], mode: 'append' | 'overwrite' = 'append'): Promise<void> {
    await this.#ask({ cmd: 'write_deltalake', path, rows, mode });
  }

  async deleteWithDeltaRs(path: string, predicate: string): Promise<void> {
    await this.#ask({ cmd: 'delete_deltalake', path, predicate });
  }

  /** Lets delta-rs change a table; its metrics, as text. */
  async deltaRs(path: string, operation: DeltaRsOperation): Promise<CanonicalRow> {
    const [metrics = {}] = await this.#ask({ cmd: 'deltalake', path, ...operation });
    return metrics;
  }

  async stop(): Promise<void> {
    this.#conversation.questions.end();
    await this.#conversation.ended;
  }

  #ask(question: Readonly<Record<string, unknown>>): Promise<readonly CanonicalRow[]> {
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (answer) => {
        if (answer.ok) resolve(answer.rows ?? []);
        else reject(new OracleError(answer.error ?? {}));
      });
      this.#conversation.questions.write(`${JSON.stringify({ id, ...question })}\n`);
    });
  }
}

function withProcess(engines: Engines): Conversation {
  const child = engines.spawn('oracle_server.py');
  if (child.stdin === null || child.stdout === null || child.stderr === null) throw new Error('the oracle has no pipes');
  const complaints: string[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => {
    complaints.push(line);
    if (complaints.length > maxComplaints) complaints.shift();
  });
  return { questions: child.stdin, answers: child.stdout, ended: once(child, 'exit'), complaints: () => complaints.join('\n') };
}

function withPort(port: number): Conversation {
  const socket = connect(port, '127.0.0.1');
  let complaint = 'the shared oracle hung up';
  socket.on('error', (error) => {
    complaint = error.message;
  });
  return { questions: socket, answers: socket, ended: new Promise((resolve) => socket.on('close', resolve)), complaints: () => complaint };
}

/** Canonical rows as sorted text, to compare sets of rows with duplicates. */
export function sortedLines(rows: readonly CanonicalRow[]): readonly string[] {
  return rows.map((row) => JSON.stringify(sorted(row))).sort();
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, member]) => [key, sorted(member)]),
  );
}
