import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/base/bigint-json.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import { columnPath } from '../../src/iceberg/metadata/schema-fields.ts';
import { liveFiles } from '../../src/iceberg/scan/live-files.ts';
import type { SnapshotState } from '../../src/iceberg/snapshot-state.ts';
import { GoldenIceberg, icebergText, textOf } from '../support/golden-iceberg.ts';
import { casesOf, objectsOf, rowsHash } from '../support/golden-tables.ts';

const pack = 'golden-iceberg';
const form = { members: 'schema', maxNumber: 2n ** 53n } as const;

/** The pack's kinds of errors as our codes. */
const codes: Readonly<Record<string, readonly string[]>> = {
  'invalid-metadata': ['ICEBERG_METADATA_INVALID'],
  // A table of made-up files names a bucket outside of it, which is not looked at.
  'missing-file': ['ICEBERG_FILE_MISSING', 'FILE_OUTSIDE_TABLE'],
  'invalid-deletion-vector': ['ICEBERG_DELETION_VECTOR_CORRUPT'],
};

const cases = casesOf(pack);
const outcome = { states: 0, refusals: 0 };

describe('tables of the golden pack', () => {
  let golden: GoldenIceberg;

  beforeAll(async () => {
    golden = await GoldenIceberg.unpack(pack);
  });

  afterAll(async () => {
    await golden.close();
  });

  it.each(cases)('%s', async (name) => {
    for (const state of objectsOf(golden.expectation(name)['versions'])) {
      const { error } = state;
      const where = `${textOf(state['metadata'])} at ${textOf(state['version'])}`;
      if (error !== undefined) {
        await expect(rowsOf(golden, name, state), where).rejects.toMatchObject({ code: codeOf(error) });
        outcome.refusals += 1;
        continue;
      }
      await checkState(golden, name, state, where);
      outcome.states += 1;
    }
  });

  it('covers every state and refusal of the pack', () => {
    expect({ cases: cases.length, ...outcome }).toEqual({ cases: 23, states: 82, refusals: 6 });
  });
});

async function opened(
  golden: GoldenIceberg,
  name: string,
  state: JsonObject,
): Promise<{ readonly table: IcebergTable; readonly view: SnapshotState }> {
  const table = await golden.openMetadata(name, textOf(state['metadata']));
  const view =
    state['bySnapshotId'] === true
      ? await table.findSnapshot({ kind: 'snapshot-id', id: BigInt(textOf(state['version'])) })
      : await table.refresh();
  return { table, view };
}

async function rowsOf(golden: GoldenIceberg, name: string, state: JsonObject): Promise<readonly string[]> {
  const { table, view } = await opened(golden, name, state);
  return golden.rows(table, view, form);
}

async function checkState(golden: GoldenIceberg, name: string, state: JsonObject, where: string): Promise<void> {
  const { table, view } = await opened(golden, name, state);
  expect(view.metadata.formatVersion, where).toBe(state['formatVersion']);
  const columns = view.schema.fields.map((field) => ({ name: field.name, type: icebergText(field.type), nullable: field.nullable }));
  expect(columns, `schema of ${where}`).toEqual(state['schema']);
  const spec = view.metadata.partitionSpecs.find(({ specId }) => specId === view.metadata.defaultSpecId);
  expect(spec?.fields.map(({ sourceId }) => columnPath(view.icebergSchema, sourceId))).toEqual(state['partitionColumns']);
  const rows = await golden.rows(table, view, form);
  expect(rows.length, `rows of ${where}`).toBe(state['rowCount']);
  expect(rowsHash(rows), `rows of ${where}`).toBe(state['rowsHash']);
  const { plan } = state;
  if (isJsonObject(plan)) expect(await planOf(table, view), `files of ${where}`).toEqual(plan);
}

async function planOf(table: IcebergTable, view: SnapshotState): Promise<JsonObject> {
  const { data, deletes } = await liveFiles(table.context, view);
  const kinds = [
    ...data.map(() => 'data'),
    ...deletes.map(({ file }) =>
      file.format === 'puffin' ? 'deletion-vector' : file.content === 'equality-deletes' ? 'equality-delete' : 'position-delete',
    ),
  ];
  const files: Record<string, number> = {};
  for (const kind of kinds) files[kind] = (files[kind] ?? 0) + 1;
  return { files, dataRecords: data.reduce((sum, { entry }) => sum + entry.file.recordCount, 0) };
}

function codeOf(error: JsonValue): unknown {
  const kind = isJsonObject(error) && typeof error['kind'] === 'string' ? error['kind'] : '';
  return expect.toSatisfy((code: unknown) => typeof code === 'string' && (codes[kind] ?? []).includes(code));
}
