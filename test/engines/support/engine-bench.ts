import { join } from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { createSession, type DataFrame, type Session } from '../../../src/index.ts';
import { removeDirectory, temporaryDirectory } from '../../support/servers.ts';
import { missingTool, obtainEngines } from '../engines.ts';
import { type CanonicalRow, Oracle, type OracleEngine, sortedLines } from '../oracle.ts';
import { canonicalRow } from './canonical-rows.ts';

export type Reader = 'ours' | OracleEngine;

/** What an engine says when it refuses a table for a feature it does not have. */
export type Refusals = Readonly<Partial<Record<OracleEngine, RegExp>>>;

export interface AgreementOptions {
  /** Engines that must refuse to read, with what they say. */
  readonly refusals?: Refusals | undefined;
  /** Engines that are not asked. */
  readonly leftOut?: readonly OracleEngine[] | undefined;
  readonly version?: number | undefined;
  /** Files no version refers to are no finding: lost attempts leave them behind. */
  readonly allowOrphans?: boolean | undefined;
}

const setUpMs = 900_000;
const missing = await missingTool();

if (missing !== undefined && process.env['CI'] !== undefined) throw new Error(`other engines cannot be tested: ${missing} is missing`);
if (missing !== undefined) console.error(`SKIPPED: ${missing} is missing, NO other engine has read our tables`);

/** True where the other engines cannot be had: the tests are skipped, loudly. */
export const enginesMissing: boolean = missing !== undefined;

/** A directory, a session of ours and the other engines, for the tests of the `describe` block it is called in. */
export function engineBench(): () => EngineBench {
  let bench: EngineBench | undefined;
  beforeAll(async () => {
    if (!enginesMissing) bench = new EngineBench(Oracle.start(await obtainEngines()));
  }, setUpMs);
  afterAll(async () => {
    await bench?.close();
  });
  return () => {
    if (bench === undefined) throw new Error('the bench is there during tests only');
    return bench;
  };
}

export class EngineBench {
  readonly oracle: Oracle;
  readonly session: Session;
  readonly directory: string = temporaryDirectory('engines');

  constructor(oracle: Oracle) {
    this.oracle = oracle;
    this.session = createSession({
      config: {
        'spark.sql.warehouse.dir': join(this.directory, 'warehouse'),
        'tidewater.engine.threads': 2,
        // Shallow clones of Spark refer to the files of their source.
        'tidewater.delta.allowedLocations': this.directory,
      },
      print: () => undefined,
    });
  }

  path(...names: readonly string[]): string {
    return join(this.directory, ...names);
  }

  /** Rows as an engine reads them, as sorted text. */
  async lines(reader: Reader, path: string, version?: number): Promise<readonly string[]> {
    if (reader !== 'ours') return sortedLines(await this.oracle.rows(reader, path, { version }));
    const frames = this.session.read.format('delta');
    return collectedLines((version === undefined ? frames : frames.option('versionAsOf', version)).load(path));
  }

  /** Row changes from a version on as an engine reads them, as sorted text. Commit times are left out: engines define them differently. */
  async changeLines(reader: 'ours' | 'delta-rs' | 'spark', path: string, from: number = 0): Promise<readonly string[]> {
    if (reader !== 'ours') return sortedLines(await this.oracle.changes(reader, path, { from }));
    const changes = this.session.read.format('delta').option('readChangeFeed', true).option('startingVersion', from).load(path);
    return collectedLines(changes.drop('_commit_timestamp'));
  }

  /** Version and operation of each commit as an engine tells them, oldest first. */
  async operations(reader: 'ours' | 'delta-rs' | 'spark', path: string): Promise<readonly string[]> {
    const entries =
      reader === 'ours'
        ? await (await this.session.sql(`DESCRIBE HISTORY delta.\`${path}\``)).collect()
        : await this.oracle.history(reader, path);
    return entries
      .map((entry) => ({ version: Number(entry['version']), operation: String(entry['operation']) }))
      .sort((a, b) => a.version - b.version)
      .map(({ version, operation }) => `${version} ${operation}`);
  }

  /** Expects every engine to read the rows we read, or to refuse as foretold, and the table to keep the rules of the protocol. */
  async expectAgreement(path: string, options: AgreementOptions = {}): Promise<readonly string[]> {
    const { refusals = {}, leftOut = [], version, allowOrphans = false } = options;
    const [ours, findings] = await Promise.all([this.lines('ours', path, version), this.oracle.check(path, { allowOrphans })]);
    for (const engine of ['delta-rs', 'duckdb', 'spark'] as const) {
      if (leftOut.includes(engine)) continue;
      const refusal = refusals[engine];
      if (refusal === undefined) expect([engine, ...(await this.lines(engine, path, version))]).toEqual([engine, ...ours]);
      else await expect(this.lines(engine, path, version)).rejects.toThrow(refusal);
    }
    expect(findings).toEqual([]);
    return ours;
  }

  /** Expects an engine to do the same with two tables: the same rows, or the same kind of error. */
  async expectSameFault(engine: OracleEngine, first: string, second: string): Promise<void> {
    const outcome = (path: string): Promise<readonly string[]> =>
      this.lines(engine, path).catch((error: unknown) => [error instanceof Error ? (error.message.split(path)[0] ?? '') : 'failed']);
    expect(await outcome(first)).toEqual(await outcome(second));
  }

  async close(): Promise<void> {
    await this.session.stop();
    await this.oracle.stop();
    removeDirectory(this.directory);
  }
}

async function collectedLines(frame: DataFrame): Promise<readonly string[]> {
  const rows: CanonicalRow[] = (await frame.collect()).map(canonicalRow);
  return sortedLines(rows);
}
