import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RandomIdSource } from '../../../../src/base/ids.ts';
import { SeededRandom } from '../../../../src/base/seeded-random.ts';
import { DuckdbEngine } from '../../../../src/engine/duckdb-engine.ts';
import type { Engine } from '../../../../src/engine/engine.ts';
import { positionDeleteIds } from '../../../../src/iceberg/metadata/reserved-ids.ts';
import type { PartitionSpec, TableMetadata } from '../../../../src/iceberg/metadata/table-metadata.ts';
import type { DataType, Field, StructType } from '../../../../src/schema/types.ts';
import { type MadeFile, madeTable, metadataOf, rowsOfTable } from '../../../support/iceberg/made-table.ts';

const directory = mkdtempSync(join(tmpdir(), 'tidewater-made-'));
let engine: Engine;
let tables = 0;

beforeAll(async () => {
  engine = await DuckdbEngine.open({
    memoryLimitBytes: 2 ** 28,
    threads: 1,
    temporaryDirectory: tmpdir(),
    ids: new RandomIdSource(new SeededRandom(3)),
  });
});

afterAll(async () => {
  await engine.close();
  rmSync(directory, { recursive: true, force: true });
});

const [int, long, text]: readonly [DataType, DataType, DataType] = [{ kind: 'integer' }, { kind: 'long' }, { kind: 'string' }];
const unpartitioned: readonly PartitionSpec[] = [{ specId: 0, fields: [] }];

function field(name: string, type: DataType, id?: number, metadata?: Field['metadata']): Field {
  return { name, type, nullable: true, ...(id === undefined ? {} : { id }), ...(metadata === undefined ? {} : { metadata }) };
}

function struct(...fields: readonly Field[]): StructType {
  return { kind: 'struct', fields };
}

async function rowsOf(
  fields: readonly Field[],
  files: readonly MadeFile[],
  parts: Partial<TableMetadata> & { readonly specs?: readonly PartitionSpec[] } = {},
): Promise<readonly string[]> {
  tables += 1;
  const { specs = unpartitioned, ...rest } = parts;
  const table = await madeTable(join(directory, `t${tables}`), engine, {
    metadata: ({ location }) => metadataOf(specs, { fields, location, ...rest }),
    files,
  });
  return rowsOfTable(table, engine);
}

describe('the rows of a table', () => {
  it('come from columns of the same id, whatever they were called and wherever they stood', async () => {
    const old = struct(field('was', text, 2), field('id', int, 1), field('gone', text, 9));
    const rows = await rowsOf(
      [field('id', long, 1), field('gone', text, 3), field('now', text, 2)],
      [{ schema: old, rows: [{ was: 'a', id: 1, gone: 'x' }] }],
    );
    expect(rows).toEqual(['{"id":1,"gone":null,"now":"a"}']);
  });

  it('have the initial default of columns that their file lacks, and null where the file has null', async () => {
    const fields = [
      field('id', int, 1),
      field('n', int, 2, { 'initial-default': 7 }),
      field('d', { kind: 'decimal', precision: 9, scale: 2 }, 3, { 'initial-default': '1.50' }),
    ];
    const rows = await rowsOf(
      fields,
      [
        { schema: struct(field('id', int, 1)), rows: [{ id: 1 }] },
        { schema: struct(field('id', int, 1), field('n', int, 2)), rows: [{ id: 2, n: null }] },
      ],
      { formatVersion: 3 },
    );
    expect(rows).toEqual(['{"id":1,"n":7,"d":"1.50"}', '{"id":2,"n":null,"d":"1.50"}']);
  });

  it('find nested members by id, defaults of absent ones included', async () => {
    const inner = struct(field('b', int, 4), field('c', text, 5, { 'initial-default': 'new' }));
    const list: DataType = { kind: 'list', element: inner, elementNullable: true, elementId: 3 };
    const stored: DataType = {
      kind: 'list',
      element: struct(field('c', text, 8), field('a', int, 4)),
      elementNullable: true,
      elementId: 3,
    };
    const rows = await rowsOf(
      [field('l', list, 1)],
      [{ schema: struct(field('l', stored, 1)), rows: [{ l: [{ c: 'old', a: 5 }] }, { l: null }] }],
      { formatVersion: 3 },
    );
    expect(rows).toEqual(['{"l":[{"b":5,"c":"new"}]}', '{"l":null}']);
  });

  it('of files without ids are found by the name mapping, else by place', async () => {
    const file: MadeFile = { schema: struct(field('old_id', int), field('note', text)), rows: [{ old_id: 1, note: 'x' }] };
    const fields = [field('note', text, 2), field('id', int, 1)];
    const mapping = '[{"field-id":1,"names":["old_id"]},{"field-id":2,"names":["text","note"]}]';
    expect(await rowsOf(fields, [file], { properties: { 'schema.name-mapping.default': mapping } })).toEqual(['{"note":"x","id":1}']);
    expect(await rowsOf(fields, [file])).toEqual(['{"note":"x","id":1}']);
    expect(await rowsOf(fields, [file], { properties: { 'schema.name-mapping.default': '[]' } })).toEqual(['{"note":null,"id":null}']);
  });

  it('take columns that files lack from identity partitions, text as it is', async () => {
    const specs: readonly PartitionSpec[] = [
      { specId: 0, fields: [{ sourceId: 2, fieldId: 1_000, name: 'p', transform: { kind: 'identity' } }] },
    ];
    const schema = struct(field('id', int, 1));
    const rows = await rowsOf(
      [field('id', int, 1), field('p', text, 2)],
      [
        { schema, rows: [{ id: 1 }], file: { partition: ["a'b"] } },
        { schema, rows: [{ id: 2 }], file: { partition: [undefined] } },
        { schema: struct(field('id', int, 1), field('p', text, 2)), rows: [{ id: 3, p: 'in file' }], file: { partition: ['c'] } },
      ],
      { specs },
    );
    expect(rows).toEqual(['{"id":1,"p":"a\'b"}', '{"id":2,"p":null}', '{"id":3,"p":"in file"}']);
  });

  it('are read when the manifest is wrong about the size of the file', async () => {
    const schema = struct(field('id', int, 1));
    const rows = await rowsOf(
      [field('id', int, 1)],
      [
        { schema, rows: [{ id: 1 }], file: { fileSizeBytes: 9 } },
        { schema, rows: [{ id: 2 }], file: { fileSizeBytes: 1_000_000 } },
      ],
    );
    expect(rows).toEqual(['{"id":1}', '{"id":2}']);
  });

  it('keep nanoseconds of instants', async () => {
    const at: Field = field('at', { kind: 'timestamp_ns' }, 1);
    const rows = await rowsOf([at, field('x', int, 2)], [{ schema: struct(at), rows: [{ at: 1_700_000_000_123_456_789n }] }], {
      formatVersion: 3,
    });
    expect(rows).toEqual(['{"at":"2023-11-14T22:13:20.123456789Z","x":null}']);
  });
});

describe('deleted rows', () => {
  const schema = struct(field('id', int, 1), field('k', text, 2));
  const data: MadeFile = {
    schema,
    rows: [
      { id: 1, k: 'a' },
      { id: 2, k: null },
      { id: 3, k: 'c' },
    ],
    sequenceNumber: 3,
  };

  it('are those equal in a column that the table has dropped, null to null, of later deletes alone', async () => {
    const schemas = [
      { schemaId: 0, struct: schema, identifierFieldIds: [] },
      { schemaId: 1, struct: struct(field('id', int, 1)), identifierFieldIds: [] },
    ];
    const deletes = (k: string | null, sequenceNumber: number): MadeFile => ({
      schema: struct(field('k', text, 2)),
      rows: [{ k }],
      sequenceNumber,
      file: { content: 'equality-deletes', equalityIds: [2] },
    });
    expect(
      await rowsOf(schema.fields, [data, deletes(null, 4), deletes('a', 3), deletes('c', 4)], { schemas, currentSchemaId: 1 }),
    ).toEqual(['{"id":1}']);
  });

  it('are named by several kinds of deletes at once', async () => {
    const positions = struct(field('file_path', text, positionDeleteIds.path), field('pos', long, positionDeleteIds.position));
    const path = join(directory, `t${tables + 1}`, 'data', '0.parquet');
    const rows = await rowsOf(schema.fields, [
      data,
      {
        schema: positions,
        rows: [
          { file_path: path, pos: 0 },
          { file_path: `${path}x`, pos: 1 },
        ],
        sequenceNumber: 3,
        file: { content: 'position-deletes' },
      },
      { schema: positions, rows: [{ file_path: path, pos: 1 }], sequenceNumber: 2, file: { content: 'position-deletes' } },
      {
        schema: struct(field('id', int, 1)),
        rows: [{ id: 1 }, { id: 3 }],
        sequenceNumber: 4,
        file: { content: 'equality-deletes', equalityIds: [1] },
      },
    ]);
    expect(rows).toEqual(['{"id":2,"k":null}']);
  });

  it('are read for many files at once where each has delete files of its own', async () => {
    const positions = struct(field('file_path', text, positionDeleteIds.path), field('pos', long, positionDeleteIds.position));
    const one = struct(field('id', int, 1));
    const pathOf = (index: number): string => join(directory, `t${tables + 1}`, 'data', `${index}.parquet`);
    const files = Array.from({ length: 30 }, (_, index): MadeFile => ({ schema: one, rows: [{ id: 2 * index }, { id: 2 * index + 1 }] }));
    const deletes = files.map(
      (_, index): MadeFile => ({
        schema: positions,
        rows: [{ file_path: pathOf(index), pos: BigInt(index % 2) }],
        file: { content: 'position-deletes', referencedDataFile: pathOf(index) },
      }),
    );
    const rows = await rowsOf(one.fields, [...files, ...deletes]);
    expect(rows).toEqual(files.map((_, index) => `{"id":${2 * index + 1 - (index % 2)}}`).sort());
  });
});
