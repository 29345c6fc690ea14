import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/bigint-json.ts';
import { sortedLines } from '../../src/codec/canonical-json.ts';
import type { DeltaTable } from '../../src/delta/delta-table.ts';
import { printSchemaString } from '../../src/delta/schema-json.ts';
import type { HistoryEntry } from '../../src/table/table.ts';
import { toVersion } from '../../src/table/version.ts';
import { canonicalText, casesOf, GoldenTables, listOf, objectsOf } from '../support/golden-tables.ts';

const pack = 'fixtures-delta';
const cases = casesOf(pack).filter((name) => name.startsWith('delta/'));
const outcome = { states: 0, unreadable: 0, ranges: 0, refusedRanges: 0, entries: 0 };

describe('tables of Spark, delta-rs and DuckDB', () => {
  let golden: GoldenTables;

  beforeAll(async () => {
    golden = await GoldenTables.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  it.each(cases)('%s', async (name) => {
    const expected = golden.expectation(name);
    const table = await golden.open(name);
    const newest = await table.refresh();
    expect(newest.version).toBe(expected['latestVersion']);
    if (expected['partitionColumns'] !== undefined) expect(newest.partitionColumns).toEqual(expected['partitionColumns']);
    for (const [version, rows] of entriesOf(expected['rows'])) {
      expectRows(await golden.rows(table, Number(version), {}), rows, `rows of version ${version}`);
      outcome.states += 1;
    }
    for (const [version, schema] of entriesOf(expected['schemaFromVersion'])) await checkSchema(table, Number(version), schema);
    for (const [version] of entriesOf(expected['unreadableVersions'])) {
      await expect(golden.rows(table, Number(version), {})).rejects.toMatchObject({
        code: expect.stringMatching(/^(ENGINE_FILE_MISSING|DELTA_)/) as string,
      });
      outcome.unreadable += 1;
    }
    for (const range of objectsOf(expected['changes'])) await checkChanges(golden, table, range);
    for (const entry of objectsOf(expected['history'])) checkEntry(await table.history({}), entry);
  });

  it('covers every state, range and history entry of the pack', () => {
    expect({ cases: cases.length, ...outcome }).toEqual({
      cases: 26,
      states: 167,
      unreadable: 10,
      ranges: 14,
      refusedRanges: 9,
      entries: 176,
    });
  });
});

function expectRows(rows: readonly string[], expected: JsonValue, what: string): void {
  if (Array.isArray(expected)) {
    expect(sortedLines(rows), what).toEqual(sortedLines(listOf(expected).map(canonicalText)));
    return;
  }
  const { count, sha256OfCanonicalLines } = isJsonObject(expected) ? expected : {};
  const hash = createHash('sha256');
  for (const line of sortedLines(rows)) hash.update(`${line}\n`);
  expect({ count: rows.length, hash: hash.digest('hex') }, what).toEqual({ count, hash: sha256OfCanonicalLines });
}

async function checkSchema(table: DeltaTable, version: number, schema: JsonValue): Promise<void> {
  const { schema: found } = await table.snapshotAt(toVersion(version));
  expect(withoutMetadata(JSON.parse(printSchemaString(found)) as JsonValue), `schema of version ${version}`).toEqual(
    withoutMetadata(schema),
  );
}

/** Spark shows users fewer keys of field metadata than the log has. */
function withoutMetadata(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return listOf(value).map(withoutMetadata);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, member]) => (key === 'metadata' || member === undefined ? [] : [[key, withoutMetadata(member)]])),
  );
}

async function checkChanges(golden: GoldenTables, table: DeltaTable, range: JsonObject): Promise<void> {
  const from = Number(range['from']);
  const to = range['to'] === null || range['to'] === undefined ? Number.MAX_SAFE_INTEGER : Number(range['to']);
  const { error } = range;
  if (isJsonObject(error)) {
    await expect(golden.changes(table, { from, to }, {})).rejects.toMatchObject({ errorClass: error['condition'] });
    const message = textOf(error['message']).replace(/^\[\w+\] /, '');
    // Where the engine's own call failed the fixture has no message of the error itself.
    if (!message.startsWith('An error occurred')) {
      await expect(golden.changes(table, { from, to }, {})).rejects.toMatchObject({
        sqlState: error['sqlState'],
        message: expect.stringContaining(message.slice(0, 60)) as string,
      });
    }
    outcome.refusedRanges += 1;
    return;
  }
  const timestamps = objectsOf(range['rows']).some((row) => row['_commit_timestamp'] !== undefined);
  const rows = await golden.changes(table, { from, to }, { timestamps });
  expectRows(rows, range['rows'] ?? [], `changes from ${from} to ${to}`);
  outcome.ranges += 1;
}

function checkEntry(history: readonly HistoryEntry[], expected: JsonObject): void {
  const entry = history.find(({ version }) => version === expected['version']);
  expect({
    version: entry?.version,
    operation: entry?.operation,
    operationParameters: Object.fromEntries(Object.entries(entry?.operationParameters ?? {}).map(([key, text]) => [key, text ?? null])),
    operationMetrics: entry?.operationMetrics,
    engineInfo: entry?.engineInfo ?? null,
    userMetadata: entry?.userMetadata ?? null,
    readVersion: entry?.readVersion ?? null,
    isolationLevel: entry?.isolationLevel ?? null,
    isBlindAppend: entry?.isBlindAppend ?? null,
  }).toEqual({ ...expected, operationMetrics: expected['operationMetrics'] ?? {} });
  outcome.entries += 1;
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function entriesOf(value: JsonValue | undefined): readonly (readonly [string, JsonValue])[] {
  return isJsonObject(value)
    ? Object.entries(value).flatMap(([key, member]) => (member === undefined ? [] : [[key, member] as const]))
    : [];
}
