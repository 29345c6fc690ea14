import { afterAll, describe, expect, it } from 'vitest';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import type { EncodedChanges, EncodeSpec, EncodeTask } from '../../../src/protocol/change-event.ts';
import type { StructType } from '../../../src/schema/types.ts';
import type { VersionChanges } from '../../../src/table/changes.ts';
import { openTestEngine, type TestEngine } from '../../support/test-engine.ts';
import { ChangeTable, type FileRows } from './change-table.ts';
import { ordersSpec } from './orders-spec.ts';

const schema: StructType = {
  kind: 'struct',
  fields: [
    { name: 'region', type: { kind: 'string' }, nullable: true },
    { name: 'id', type: { kind: 'long' }, nullable: true },
    { name: 'amount', type: { kind: 'integer' }, nullable: true },
  ],
};
const partitionValues = { region: 'eu' };
const update = (id: number, before: number | null, after: number | null): FileRows['rows'] => [
  { id, amount: before, _change_type: 'update_preimage' },
  { id, amount: after, _change_type: 'update_postimage' },
];

interface ShownEvent {
  readonly op: string;
  readonly before: { readonly amount: number } | null;
  readonly after: { readonly amount: number } | null;
  readonly amount: number;
  readonly _change_type?: string;
}

/** `ordinal op before after`, with the amounts of the images; `-` for a tombstone. */
function shorthand(encoded: EncodedChanges): readonly string[] {
  return encoded.batches.flatMap((batch) =>
    decodeRecords(batch.bytes, batch).map(({ key, value, headers }) => {
      const ordinal = Buffer.from(new Map(headers).get('ordinal') ?? []).toString();
      if (value === undefined) return `${ordinal} - ${Buffer.from(key ?? []).toString()}`;
      const event = JSON.parse(Buffer.from(value).toString()) as ShownEvent;
      if (event._change_type !== undefined) return `${ordinal} ${event._change_type} ${event.amount}`;
      return `${ordinal} ${event.op} ${event.before?.amount ?? 'null'} ${event.after?.amount ?? 'null'}`;
    }),
  );
}

const shared: TestEngine = await openTestEngine();
afterAll(() => shared.close());

describe.each([
  ['held in memory', undefined],
  ['read by the engine', 0],
])('a feed with a condition, of files %s', (_, maxHeldBytes) => {
  async function encoded(
    files: readonly FileRows[],
    spec: Partial<EncodeSpec>,
    more: Partial<EncodeTask> = {},
  ): Promise<{
    readonly changes: VersionChanges;
    readonly run: (task?: Partial<EncodeTask>) => Promise<EncodedChanges>;
    readonly table: ChangeTable;
  }> {
    const table = new ChangeTable(schema);
    const changes = await table.commit(files);
    const encoder = new ParquetChangeEncoder({
      openStore: table.openStore,
      openEngine: () => Promise.resolve(shared.engine),
      maxHeldBytes,
    });
    const task = { spec: { ...ordersSpec, ...spec }, changes, snapshot: false, fromOrdinal: 0, maxRows: 1000, maxBytes: 1e9, ...more };
    return { table, changes, run: (other = {}) => encoder.encode({ ...task, ...other }) };
  }

  const moves: FileRows = {
    kind: 'recorded',
    partitionValues,
    rows: [
      ...update(1, 5, 15),
      ...update(2, 15, 5),
      ...update(3, 15, 16),
      ...update(4, 1, 2),
      ...update(5, null, 20),
      { id: 6, amount: 11, _change_type: 'insert' },
      { id: 7, amount: 9, _change_type: 'insert' },
      { id: 8, amount: 12, _change_type: 'delete' },
      { id: 9, amount: null, _change_type: 'delete' },
    ],
  };

  it('publishes what enters as an insert, what leaves as a delete with its old image, and nothing of what stays out', async () => {
    const { run } = await encoded([moves], { where: "amount > 10 AND region = 'eu'" });
    // Ordinals are those of the whole table: two removals first, then the pairs.
    expect(shorthand(await run())).toEqual([
      '0 d 12 null',
      '0 - {"id":8}',
      '3 c null 15',
      '4 d 15 null',
      '4 - {"id":2}',
      '6 u 15 16',
      '11 c null 20',
      '12 c null 11',
    ]);
  });

  it('does the same with rows in the flat envelope', async () => {
    const { run } = await encoded([moves], { where: 'amount > 10', envelope: 'flat' });
    expect(shorthand(await run())).toEqual([
      '0 delete 12',
      '3 insert 15',
      '4 delete 15',
      '6 update_preimage 15',
      '7 update_postimage 16',
      '11 insert 20',
      '12 insert 11',
    ]);
  });

  it('gives the same records wherever it begins again, and ends where the whole table ends', async () => {
    const { run } = await encoded([moves], { where: 'amount > 10' });
    const whole = await run();
    const pieces: string[] = [];
    let at = 0;
    for (let complete = false; !complete; ) {
      const piece = await run({ fromOrdinal: at, maxRows: 1 });
      pieces.push(...shorthand(piece));
      ({ complete, untilOrdinal: at } = piece);
    }
    expect(pieces).toEqual(shorthand(whole));
    expect([at, whole.untilOrdinal]).toEqual([14, 14]);
  });

  it('reads a column for the condition that is not published', async () => {
    const { run } = await encoded([moves], { where: 'amount > 15', select: ['id'] });
    const [batch] = (await run()).batches;
    const values = decodeRecords(batch?.bytes ?? new Uint8Array(), batch ?? { topic: '', partition: 0 }).map(({ value }) =>
      Buffer.from(value ?? []).toString(),
    );
    expect(values.map((value) => value.slice(0, value.indexOf(',"source"')))).toEqual([
      '{"before":null,"after":{"id":3}',
      '{"before":null,"after":{"id":5}',
    ]);
  });

  it('filters snapshots', async () => {
    const rows = [
      { id: 1, amount: 1 },
      { id: 2, amount: 20 },
    ];
    const { run } = await encoded([{ kind: 'insert', rows, partitionValues }], { where: 'amount > 10' }, { snapshot: true });
    expect(shorthand(await run())).toEqual(['1 r null 20']);
  });

  it('does not read files that the table says hold no row of the condition', async () => {
    const others = Array.from(
      { length: 3 },
      (_, index): FileRows => ({
        kind: 'insert',
        rows: [
          { id: index, amount: 1 },
          { id: index, amount: 2 },
        ],
        partitionValues: { region: index === 1 ? 'eu' : 'us' },
        ...(index === 1 ? {} : { ruledOut: true }),
      }),
    );
    const { run, table, changes } = await encoded(others, { where: "region = 'eu' AND amount = 2" });
    for (const { path, partitionValues: of } of changes.files) if (of['region'] === 'us') await table.openStore('').delete(path);
    const found = await run();
    expect([shorthand(found), found.untilOrdinal, found.complete]).toEqual([['3 c null 2'], 6, true]);
  });

  it('names the place in a condition that does not fit, and the file of a row that has no answer', async () => {
    const { run } = await encoded([moves], { where: 'amount > 10 AND nope = 1' });
    await expect(run()).rejects.toMatchObject({
      code: 'CDF_FILTER_INVALID',
      message: expect.stringMatching(/at character 17: .*nope/) as string,
    });
    const failing = await encoded([moves], { where: '100 / (id - 3) > 1' });
    await expect(failing.run()).rejects.toMatchObject({
      code: 'CDF_FILTER_FAILED',
      message: expect.stringContaining('version 0') as string,
    });
  });
});
