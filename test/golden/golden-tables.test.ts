import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/bigint-json.ts';
import { isServiceError } from '../../src/base/errors.ts';
import type { DeltaTable } from '../../src/delta/delta-table.ts';
import { toVersion } from '../../src/table/version.ts';
import { casesOf, GoldenTables, goldenType, listOf, objectsOf, rowsHash } from '../support/golden-tables.ts';

/** The pack's kinds of errors as our codes; any of several may be right. */
const codes: Readonly<Record<string, readonly string[]>> = {
  'table-not-found': ['TABLE_NOT_FOUND'],
  // One table has also lost its metadata, which shows first.
  'missing-protocol': ['DELTA_STATE_RECOVER_ERROR', 'DELTA_LOG_CORRUPT'],
  'unsupported-protocol': ['DELTA_INVALID_PROTOCOL_VERSION'],
  'unsupported-feature': ['DELTA_UNSUPPORTED_FEATURES_FOR_READ', 'DELTA_TYPE_UNSUPPORTED'],
  'versions-not-contiguous': ['DELTA_VERSIONS_NOT_CONTIGUOUS'],
  // A path that leads out of the table is not looked at.
  'missing-file': ['ENGINE_FILE_MISSING', 'DELTA_DELETION_VECTOR_MISSING', 'DELTA_PATH_REFUSED'],
  'version-out-of-range': ['DELTA_CDC_START_VERSION_AFTER_LATEST'],
  'invalid-range': ['DELTA_INVALID_CDC_RANGE'],
  'change-data-not-enabled': ['DELTA_MISSING_CHANGE_DATA'],
};

const pack = 'golden-delta';
/** As the pack prints rows: members in schema order, integers as numbers up to 2^53. */
const form = { members: 'schema', maxNumber: 2n ** 53n } as const;

const cases = casesOf(pack);
const outcome = { readStates: 0, readRanges: 0, refusedStates: 0, refusedRanges: 0, refusedTables: 0 };

describe('tables of the golden pack', () => {
  let golden: GoldenTables;

  beforeAll(async () => {
    golden = await GoldenTables.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  it.each(cases)('%s', async (name) => {
    const expected = golden.expectation(name);
    if (expected['readable'] === false) {
      await expect(newest(golden, name)).rejects.toSatisfy(codeOf(expected['error']));
      outcome.refusedTables += 1;
      return;
    }
    const table = await golden.open(name);
    for (const state of objectsOf(expected['versions'])) await checkState(golden, table, state);
    for (const range of objectsOf(expected['changes'])) await checkChanges(golden, table, range);
  });

  it('covers every state, range and refusal of the pack', () => {
    expect({ cases: cases.length, ...outcome }).toEqual({
      cases: 120,
      readStates: 261,
      readRanges: 47,
      refusedStates: 39,
      refusedRanges: 24,
      refusedTables: 6,
    });
  });
});

async function newest(golden: GoldenTables, name: string): Promise<readonly string[]> {
  const table = await golden.open(name);
  return golden.rowsOf(await table.scan(await table.refresh()), form);
}

async function checkState(golden: GoldenTables, table: DeltaTable, state: JsonObject): Promise<void> {
  const version = Number(state['version']);
  if (state['error'] !== undefined) {
    await expect(golden.rows(table, version, form)).rejects.toSatisfy(codeOf(state['error']));
    outcome.refusedStates += 1;
    return;
  }
  const snapshot = await table.snapshotAt(toVersion(version));
  const columns = snapshot.schema.fields.map((field) => ({ name: field.name, type: goldenType(field.type), nullable: field.nullable }));
  expect(columns, `schema of version ${version}`).toEqual(state['schema']);
  expect(snapshot.partitionColumns).toEqual(state['partitionColumns']);
  const rows = await golden.rows(table, version, form);
  expect(rows.length, `rows of version ${version}`).toBe(state['rowCount']);
  if (state['rowsHash'] !== undefined) expect(rowsHash(rows), `rows of version ${version}`).toBe(state['rowsHash']);
  checkLog(snapshot, state['log']);
  outcome.readStates += 1;
}

type DeltaState = Awaited<ReturnType<DeltaTable['refresh']>>;

function checkLog(snapshot: DeltaState, log: JsonValue | undefined): void {
  if (!isJsonObject(log)) return;
  const { protocol } = snapshot;
  expect(snapshot.fileCount).toBe(log['numFiles']);
  expect([protocol.minReaderVersion, protocol.minWriterVersion]).toEqual([log['minReaderVersion'], log['minWriterVersion']]);
  expect([...(protocol.readerFeatures ?? [])].sort()).toEqual([...listOf(log['readerFeatures'])].sort());
  expect([...(protocol.writerFeatures ?? [])].sort()).toEqual([...listOf(log['writerFeatures'])].sort());
  if (log['files'] !== undefined)
    expect(Array.from(snapshot.files(), (file) => file.path).sort()).toEqual([...listOf(log['files'])].sort());
  const marks = Object.fromEntries(Array.from(snapshot.txns(), (txn) => [txn.appId, Number(txn.version)]));
  expect(marks).toEqual(log['transactions'] ?? {});
  const domains = Object.fromEntries(Array.from(snapshot.domains(), (domain) => [domain.domain, domain.configuration]));
  expect(domains).toEqual(log['domains'] ?? {});
}

async function checkChanges(golden: GoldenTables, table: DeltaTable, range: JsonObject): Promise<void> {
  const versions = { from: Number(range['from']), to: Number(range['to']) };
  if (range['error'] !== undefined) {
    await expect(golden.changes(table, versions, form)).rejects.toSatisfy(codeOf(range['error']));
    outcome.refusedRanges += 1;
    return;
  }
  const rows = await golden.changes(table, versions, form);
  expect(rows.length, `changes ${versions.from} to ${versions.to}`).toBe(range['rowCount']);
  expect(rowsHash(rows), `changes ${versions.from} to ${versions.to}`).toBe(range['rowsHash']);
  outcome.readRanges += 1;
}

function codeOf(error: JsonValue | undefined): (thrown: unknown) => boolean {
  const kind = isJsonObject(error) && typeof error['kind'] === 'string' ? error['kind'] : '';
  return (thrown) => {
    const code: unknown = isServiceError(thrown) || (thrown instanceof Error && 'code' in thrown) ? thrown.code : undefined;
    return typeof code === 'string' && (codes[kind] ?? []).includes(code);
  };
}
