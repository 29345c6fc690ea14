import { describe, expect, it } from 'vitest';
import { BatchDivider } from '../../../../src/app/workers/batch-divider.ts';
import { InThreadBatchStager } from '../../../../src/app/workers/batch-stager.ts';
import { pooledDivider } from '../../../../src/app/workers/pooled.ts';
import { toEpochMs } from '../../../../src/base/clock.ts';
import { ServiceError } from '../../../../src/base/errors.ts';
import { inertFailpoint } from '../../../../src/base/failpoint.ts';
import { SystemClock } from '../../../../src/base/system-clock.ts';
import { batchField, batchFlag } from '../../../../src/kafka/records/batch-header.ts';
import type { Compression } from '../../../../src/kafka/records/compression.ts';
import { crc32c } from '../../../../src/kafka/records/crc32c.ts';
import { decodeRecords, encodeRecordBatch } from '../../../../src/kafka/records/record-batch.ts';
import { withChecksum } from '../../../../src/kafka/records/record-subset.ts';
import type { DivideResult, DivideTask, DivisionKey, DivisionSpec } from '../../../../src/protocol/division.ts';
import type { RegisteredSchema } from '../../../../src/protocol/payload-encoding.ts';
import { MemoryObjectStore } from '../../../../src/storage/memory-object-store.ts';

interface Given {
  readonly value: string | Uint8Array | undefined;
  readonly headers?: readonly (readonly [string, string])[];
}

function batchOf(baseOffset: bigint, given: readonly Given[], compression: Compression = 'none'): Uint8Array {
  const records = given.map(({ value, headers }, index) => ({
    value: value === undefined ? undefined : Buffer.from(value),
    key: Buffer.from(`k${index}`),
    headers: headers?.map(([name, text]) => [name, Buffer.from(text)] as const),
    timestampMs: toEpochMs(1_000 + index),
  }));
  const { bytes } = encodeRecordBatch({ topic: 'events', partition: 3, records, compression });
  new DataView(bytes.buffer, bytes.byteOffset).setBigInt64(batchField.baseOffset, baseOffset);
  return bytes;
}

const specOf = (key: DivisionKey, value: DivisionSpec['value'] = { kind: 'json', framed: false }): DivisionSpec => ({
  key,
  value,
  parts: [
    { table: 'a', values: ['a', '1', 'true', 'shop.Order'] },
    { table: 'b', values: ['b', '2', 'false'], pattern: 'b\\d+|shop\\.Pay.*' },
  ],
  unmatched: 'reject',
});
const byMember: DivisionKey = { kind: 'member', path: ['t'], type: 'string' };

function taskOf(batches: readonly Uint8Array[], spec: DivisionSpec, schemas: readonly RegisteredSchema[] = []): DivideTask {
  const spans: { start: number; end: number }[] = [];
  let end = 0;
  for (const bytes of batches) {
    spans.push({ start: end, end: end + bytes.length });
    end += bytes.length;
  }
  return { spec, topic: 'events', partition: 3, bytes: new Uint8Array(Buffer.concat(batches)), batches: spans, unopened: [], schemas };
}

/** What each part has, and with `!` what none takes. */
function shown({ parts }: DivideResult): readonly (readonly string[])[] {
  return parts.map(({ bytes, batches }) =>
    batches.flatMap(({ start, end, unmatched, checked, source, recordCount }) => {
      const records = decodeRecords(bytes.subarray(start, end), { topic: 'events', partition: 3 }, { verifyCrc: !checked });
      expect(records).toHaveLength(recordCount);
      return records.map(
        ({ offset, timestampMs, key }) => `${unmatched ? '!' : ''}${source}/${offset}@${timestampMs}${Buffer.from(key ?? []).toString()}`,
      );
    }),
  );
}

const divide = (
  batches: readonly Uint8Array[],
  spec: DivisionSpec,
  schemas?: readonly RegisteredSchema[],
): readonly (readonly string[])[] => shown(new BatchDivider({ maxNestingDepth: 8 }).divide(taskOf(batches, spec, schemas)));

const json = (value: object): Given => ({ value: JSON.stringify(value) });

describe('dividing record batches', () => {
  it.each(['none', 'gzip', 'snappy', 'lz4'] as const)('keeps offsets, times and keys of records compressed with %s', (compression) => {
    const batch = batchOf(40n, [json({ t: 'a' }), json({ t: 'b' }), json({ t: 'c' }), json({ t: 'b7' }), json({ t: 'a' })], compression);
    expect(divide([batch], specOf(byMember))).toEqual([
      ['!0/42@1002k2', '0/40@1000k0', '0/44@1004k4'],
      ['0/41@1001k1', '0/43@1003k3'],
    ]);
  });

  it('passes on whole what all goes one way', () => {
    const batch = batchOf(0n, [json({ t: 'b' }), json({ t: 'b2' })], 'lz4');
    const { parts } = new BatchDivider({ maxNestingDepth: 8 }).divide(taskOf([batch], specOf(byMember)));
    expect(parts.map(({ bytes }) => Buffer.from(bytes).toString('hex'))).toEqual(['', Buffer.from(batch).toString('hex')]);
  });

  it('keeps the time of the broker where the batch has it', () => {
    const bytes = Buffer.from(batchOf(0n, [json({ t: 'a' }), json({ t: 'b' })]));
    bytes.writeInt16BE(bytes.readInt16BE(batchField.attributes) | batchFlag.logAppendTime, batchField.attributes);
    bytes.writeUInt32BE(crc32c(bytes, batchField.attributes), batchField.crc);
    expect(divide([bytes], specOf(byMember))).toEqual([['0/0@1001k0'], ['0/1@1001k1']]);
  });

  it('reads members below others, whole numbers, booleans and headers', () => {
    const deep: DivisionKey = { kind: 'member', path: ['x', 'y'], type: 'string' };
    expect(
      divide([batchOf(0n, [json({ x: { y: 'a' } }), json({ x: { y: 'b' } }), json({ x: {} }), json({ x: null })])], specOf(deep)),
    ).toEqual([['!0/2@1002k2', '!0/3@1003k3', '0/0@1000k0'], ['0/1@1001k1']]);
    const long: DivisionKey = { kind: 'member', path: ['t'], type: 'long' };
    expect(divide([batchOf(0n, [json({ t: 1 }), json({ t: 2 }), json({ t: 3 })])], specOf(long))).toEqual([
      ['!0/2@1002k2', '0/0@1000k0'],
      ['0/1@1001k1'],
    ]);
    const boolean: DivisionKey = { kind: 'member', path: ['t'], type: 'boolean' };
    expect(divide([batchOf(0n, [json({ t: true }), json({ t: false })])], specOf(boolean))).toEqual([['0/0@1000k0'], ['0/1@1001k1']]);
    const headers: readonly Given[] = [
      { value: 'no JSON', headers: [['t', 'a']] },
      {
        value: undefined,
        headers: [
          ['t', 'a'],
          ['t', 'b'],
        ],
      },
      { value: 'x', headers: [['T', 'a']] },
    ];
    expect(divide([batchOf(0n, headers)], specOf({ kind: 'header', name: 't' }))).toEqual([['!0/2@1002k2', '0/0@1000k0'], ['0/1@1001k1']]);
  });

  it('reads the type of records from the schemas that they name', () => {
    const framed = (id: number, ...payload: readonly number[]): Given => ({ value: Uint8Array.of(0, 0, 0, 0, id, ...payload) });
    const schemas: readonly RegisteredSchema[] = [
      { key: 'ids/1', schema: { type: 'AVRO', text: '{"type":"record","name":"Order","namespace":"shop","fields":[]}', references: [] } },
      { key: 'ids/2', schema: { type: 'AVRO', text: '{"type":"record","name":"shop.Payment","fields":[]}', references: [] } },
      { key: 'ids/3', schema: { type: 'AVRO', text: '"string"', references: [] } },
      { key: 'ids/4', schema: undefined },
      {
        key: 'ids/5',
        schema: {
          type: 'PROTOBUF',
          text: 'syntax = "proto3"; package shop; message Order {} message Pay { message In {} }',
          references: [],
        },
      },
      { key: 'ids/6', schema: { type: 'JSON', text: '{"title":"shop.Order"}', references: [] } },
    ];
    const byType: DivisionKey = { kind: 'record-type' };
    const avro = specOf(byType, { kind: 'avro', schemas: 'registry', idIn: 'prefix' });
    expect(divide([batchOf(0n, [framed(1), framed(2), framed(3), framed(4)])], avro, schemas)).toEqual([
      ['!0/2@1002k2', '!0/3@1003k3', '0/0@1000k0'],
      ['0/1@1001k1'],
    ]);
    const protobuf = specOf(byType, { kind: 'protobuf', schemas: 'registry', idIn: 'prefix', message: undefined });
    expect(divide([batchOf(0n, [framed(5, 0), framed(5, 2, 2), framed(5, 4, 2, 0), framed(5, 8)])], protobuf, schemas)).toEqual([
      ['!0/3@1003k3', '0/0@1000k0'],
      ['0/1@1001k1', '0/2@1002k2'],
    ]);
    const titled = specOf(byType, { kind: 'json', framed: true });
    expect(divide([batchOf(0n, [framed(6, 0x7b, 0x7d)])], titled, schemas)).toEqual([['0/0@1000k0'], []]);
    expect(() => divide([batchOf(0n, [framed(9)])], avro)).toThrow(expect.objectContaining({ code: 'SCHEMAS_NEEDED' }) as Error);
  });

  it('gives what cannot be opened to the first table, as what nobody takes', () => {
    const damaged = Buffer.from(batchOf(10n, [json({ t: 'b' })]));
    damaged.writeUInt8(damaged.readUInt8(70) ^ 1, 70);
    const { parts } = new BatchDivider({ maxNestingDepth: 8 }).divide(
      taskOf([damaged, batchOf(11n, [json({ t: 'b' })])], specOf(byMember)),
    );
    expect(parts.map(({ batches }) => batches)).toEqual([
      [{ source: 0, start: 0, end: damaged.length, recordCount: 1, unmatched: true, checked: false }],
      [{ source: 1, start: 0, end: damaged.length, recordCount: 1, unmatched: false, checked: true }],
    ]);
  });

  it('compares checksums once: those of parts are not made, and those of what was not opened are compared where it is decoded', () => {
    const batch = batchOf(0n, [json({ t: 'a' }), json({ t: 'b' })]);
    const { parts } = new BatchDivider({ maxNestingDepth: 8 }).divide(taskOf([batch], specOf(byMember)));
    expect(parts.map(({ batches }) => batches.map(({ checked }) => checked))).toEqual([[true], [true]]);
    for (const { bytes } of parts) {
      expect(() => decodeRecords(bytes, { topic: 'events', partition: 3 })).toThrow('has checksum 0');
      expect(decodeRecords(withChecksum(bytes), { topic: 'events', partition: 3 })).toHaveLength(1);
    }
    const byTopic = new BatchDivider({ maxNestingDepth: 8 }).divide({ ...taskOf([batch], specOf({ kind: 'topic' })), topic: 'a' });
    expect(byTopic.parts[0]?.batches.map(({ checked }) => checked)).toEqual([false]);
  });

  it('leaves batches unopened that hold every thread', async () => {
    const divider = new BatchDivider({ maxNestingDepth: 8 });
    const asked: (readonly number[])[] = [];
    const pool = {
      run: (_kind: unknown, task: unknown) => {
        const { unopened } = task as DivideTask;
        asked.push([...unopened]);
        if (!unopened.includes(1)) {
          const stuck = new ServiceError({ code: 'WORKER_STUCK', kind: 'unavailable', message: 'stuck', context: { step: 1 } });
          return Promise.reject(stuck);
        }
        return Promise.resolve(divider.divide(task as DivideTask) as never);
      },
    };
    const batches = [batchOf(0n, [json({ t: 'b' })]), batchOf(1n, [json({ t: 'b' })])];
    expect(shown(await pooledDivider(pool).divide(taskOf(batches, specOf(byMember))))).toEqual([['!1/1@1000k0'], ['0/0@1000k0']]);
    expect(asked).toEqual([[], [1]]);
  });
});

describe('records that no table takes', () => {
  const stage = async (
    given: readonly Given[],
    unmatched: DivisionSpec['unmatched'],
    compression: Compression = 'none',
    more: Partial<DivisionSpec> = {},
  ): Promise<unknown> => {
    const clock = new SystemClock();
    const store = new MemoryObjectStore({ name: 't', clock });
    const stager = new InThreadBatchStager({ openStore: () => store, clock, failpoint: inertFailpoint, maxNestingDepth: 8 });
    const bytes = batchOf(7n, given, compression);
    const schema = { kind: 'struct', fields: [{ name: 'v', type: { kind: 'string' }, nullable: true }] } as const;
    const { rejects, passedOver, rowCount } = await stager.stage({
      batch: {
        table: 'a',
        sequence: 0,
        bytes: new Uint8Array(bytes).buffer,
        recordBatches: [{ topic: 'events', partition: 3, start: 0, end: bytes.length, fromOffset: 8n, unmatched: true }],
        ranges: [{ topic: 'events', partition: 3, from: 8n, until: 20n, writerId: 'p:events:3:c:t', expectedMark: undefined }],
        recordCount: given.length,
        maxTimestampMs: 0,
        sealedBy: 'rows',
        openedAtMs: 0,
      },
      write: {
        location: 'memory://t',
        schema,
        partitionColumns: [],
        partitionColumnsInFile: false,
        compression: 'zstd',
        partitionPathStyle: 'hive-delta',
        statisticsColumns: 32,
      },
      decode: {
        sources: [{ kind: 'value', name: 'v' }],
        unknownMembers: 'ignore',
        division: { spec: { ...specOf(byMember), unmatched, ...more }, index: 0 },
      },
      fileNameStem: 'stem',
    });
    return { rejects: rejects.map(({ offset, reason, message, suspends }) => [offset, reason, message, suspends]), passedOver, rowCount };
  };
  const given = [json({ t: 'z' }), json({ t: 'x\u0007y' }), json({ v: 'no type' }), { value: 'no JSON' }, json({ t: 5 }), json({ t: 'b' })];
  const unknown = 'no table takes records whose member "t" is "x\ufffdy"';
  const missing = 'member "t" is missing or null, and says which table the record is for';
  const undivided = 'the record batch could not be divided among the tables of its route';

  it('are rejects of the first, by what is wrong with them', async () => {
    expect(await stage(given, 'reject', 'gzip')).toEqual({
      rejects: [
        [8n, 'no-table', unknown, undefined],
        [9n, 'no-table', missing, undefined],
        [10n, 'invalid-json', expect.stringContaining('JSON'), undefined],
        [11n, 'wrong-type', expect.stringContaining('member "t"'), undefined],
        [12n, 'no-table', undivided, undefined],
      ],
      passedOver: {},
      rowCount: 0,
    });
  });

  it('stop it, or are counted, as the route says', async () => {
    expect(await stage(given.slice(0, 3), 'suspend')).toEqual({
      rejects: [
        [8n, 'no-table', unknown, true],
        [9n, 'no-table', missing, true],
      ],
      passedOver: {},
      rowCount: 0,
    });
    expect(await stage(given.slice(0, 3), 'skip')).toEqual({ rejects: [], passedOver: { 'no-table': 2 }, rowCount: 0 });
  });

  it('are rejects too where they truncate what may be a table with a row for each key', async () => {
    const events: DivisionSpec['value'] = { kind: 'json', framed: false, envelope: 'debezium' };
    const truncation = [{ value: '' }, json({ op: 't', before: null, after: null, source: { t: 'a' }, ts_ms: 1 })];
    expect(await stage(truncation, 'skip', 'none', { value: events })).toEqual({ rejects: [], passedOver: { truncate: 1 }, rowCount: 0 });
    const message = 'the event truncates its table, whose rows stay here (tables[].onTruncate)';
    expect(await stage(truncation, 'skip', 'none', { value: events, keyed: true })).toEqual({
      rejects: [[8n, 'not-an-event', message, undefined]],
      passedOver: {},
      rowCount: 0,
    });
  });
});
