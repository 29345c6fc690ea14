import { describe, expect, it } from 'vitest';
import { ParquetChangeEncoder } from '../../../src/cdf/change-encoder.ts';
import { checkSchema, RegisteringEncoder } from '../../../src/cdf/encoding/registering-encoder.ts';
import { decodeRecords } from '../../../src/kafka/records/record-batch.ts';
import { type EncodeTask, plainRecords, type RecordSettings } from '../../../src/protocol/change-event.ts';
import type { NewSchema } from '../../../src/protocol/schema-subjects.ts';
import type { StructType } from '../../../src/schema/types.ts';
import { noEngine } from '../../support/no-engine.ts';
import { ChangeTable, ordersSchema } from './change-table.ts';
import { MemorySubjects } from './memory-subjects.ts';
import { ordersSpec } from './orders-spec.ts';

async function setUp(records: Partial<RecordSettings>, schema?: StructType) {
  const table = new ChangeTable();
  const subjects = new MemorySubjects();
  const encoder = new RegisteringEncoder(new ParquetChangeEncoder({ openStore: table.openStore, openEngine: noEngine }), subjects);
  const spec = { ...ordersSpec, records: { ...plainRecords, encoding: 'avro', ...records } } as const;
  const committed = await table.commit([{ kind: 'insert', rows: [{ id: 1, name: 'x' }] }]);
  const changes = { ...committed, schema: schema ?? committed.schema };
  const task: EncodeTask = { spec, changes, snapshot: false, fromOrdinal: 0, maxRows: 10, maxBytes: 1e9 };
  return { subjects, encoder, task };
}

async function idsOf(encoder: RegisteringEncoder, task: EncodeTask): Promise<readonly [number, number]> {
  const { batches } = await encoder.encode(task);
  const [record] = batches.flatMap((batch) => decodeRecords(batch.bytes, batch));
  return [Buffer.from(record?.key ?? []).readUInt32BE(1), Buffer.from(record?.value ?? []).readUInt32BE(1)];
}

describe('a feed with a registry', () => {
  it('registers the schemas of keys and values, and asks for each once', async () => {
    const { subjects, encoder, task } = await setUp({});
    expect(await idsOf(encoder, task)).toEqual([1, 2]);
    expect(await idsOf(encoder, task)).toEqual([1, 2]);
    expect(subjects.asked).toBe(2);
    expect([...subjects.bySubject.keys()]).toEqual(['cdf.orders-key', 'cdf.orders-value']);
  });

  it('registers a further version when the columns change, and no other', async () => {
    const { subjects, encoder, task } = await setUp({});
    await encoder.encode(task);
    const schema = { kind: 'struct', fields: ordersSchema.fields.map((field) => ({ ...field, nullable: true })) } as const;
    expect(await idsOf(encoder, { ...task, changes: { ...task.changes, schema } })).toEqual([3, 4]);
    expect(subjects.bySubject.get('cdf.orders-value')).toHaveLength(2);
  });

  it.each([
    ['record', ['cdf.orders.Key', 'cdf.orders.Envelope']],
    ['topic-record', ['cdf.orders-cdf.orders.Key', 'cdf.orders-cdf.orders.Envelope']],
  ] as const)('names subjects by %s', async (subjectStrategy, names) => {
    const { subjects, encoder, task } = await setUp({ subjectStrategy });
    await encoder.encode(task);
    expect([...subjects.bySubject.keys()]).toEqual(names);
  });

  it('asks nobody for the schema of JSON', async () => {
    const { subjects, encoder, task } = await setUp({ encoding: 'json' });
    await encoder.encode(task);
    expect(subjects.asked).toBe(0);
  });

  it('asks for none of a version without rows', async () => {
    const { subjects, encoder, task } = await setUp({});
    expect(await encoder.encode({ ...task, changes: { ...task.changes, files: [] } })).toMatchObject({ batches: [], complete: true });
    expect(subjects.asked).toBe(0);
  });

  it('waits where a schema is refused, and goes on when it is taken', async () => {
    const { subjects, encoder, task } = await setUp({});
    subjects.refuses = 'READER_FIELD_MISSING_DEFAULT_VALUE';
    await expect(encoder.encode(task)).rejects.toMatchObject({
      code: 'FEED_SCHEMA_REFUSED',
      kind: 'unavailable',
      message: expect.stringContaining('READER_FIELD_MISSING_DEFAULT_VALUE') as string,
    });
    subjects.refuses = undefined;
    subjects.isDown = true;
    await expect(encoder.encode(task)).rejects.toMatchObject({ code: 'REGISTRY_UNAVAILABLE', kind: 'unavailable' });
    subjects.isDown = false;
    expect(await idsOf(encoder, task)).toEqual([1, 2]);
  });
});

describe('a feed that registers nothing', () => {
  it('takes what somebody registered, and waits for it', async () => {
    const { subjects, encoder, task } = await setUp({ registration: 'registered' });
    await expect(encoder.encode(task)).rejects.toMatchObject({ code: 'FEED_SCHEMA_UNREGISTERED', kind: 'unavailable' });
    const other = await setUp({});
    await other.encoder.encode(other.task);
    for (const [subject, schemas] of other.subjects.bySubject) for (const schema of schemas) subjects.put(subject, schema);
    expect(await idsOf(encoder, task)).toEqual([1, 2]);
  });

  it.each(['avro', 'protobuf', 'json-schema'] as const)(
    'takes the newest of the subject where it tells %s the same way',
    async (encoding) => {
      const { subjects, encoder, task } = await setUp({ registration: 'latest', encoding });
      await expect(encoder.encode(task)).rejects.toMatchObject({ code: 'FEED_SCHEMA_UNREGISTERED' });
      const other = await setUp({ encoding });
      await other.encoder.encode(other.task);
      for (const [subject, schemas] of other.subjects.bySubject) {
        // As somebody wrote it who told the same with words of their own.
        for (const schema of schemas) subjects.put(subject, { ...schema, text: withComment(schema) });
      }
      expect(await idsOf(encoder, task)).toEqual([1, 2]);
      expect([...subjects.bySubject.values()].flat()).toHaveLength(2);
    },
  );

  it('names what differs in the newest of the subject', async () => {
    const { subjects, encoder, task } = await setUp({ registration: 'latest' });
    const other = await setUp({}, { kind: 'struct', fields: ordersSchema.fields.toReversed() });
    await other.encoder.encode(other.task);
    for (const [subject, schemas] of other.subjects.bySubject) for (const schema of schemas) subjects.put(subject, schema);
    await expect(encoder.encode(task)).rejects.toMatchObject({
      code: 'FEED_SCHEMA_DIFFERS',
      message: expect.stringContaining('where the records have') as string,
    });
  });
});

describe('the check of a schema', () => {
  const subject = 'cdf.orders-value';

  it('says what the feed would meet, and registers nothing', async () => {
    const { subjects, task } = await setUp({});
    expect(await checkSchema(task, 'value', subjects)).toEqual({ subject, problem: undefined });
    subjects.refuses = 'READER_FIELD_MISSING_DEFAULT_VALUE';
    expect(await checkSchema(task, 'value', subjects)).toEqual({ subject, problem: 'READER_FIELD_MISSING_DEFAULT_VALUE' });
    expect(subjects.bySubject.size).toBe(0);
  });

  it.each(['registered', 'latest'] as const)('of a feed with registration %s tells what is missing', async (registration) => {
    const { subjects, task } = await setUp({ registration });
    expect((await checkSchema(task, 'value', subjects))?.problem).toMatch(/^it (does not have|has no) /);
    const other = await setUp({});
    await other.encoder.encode(other.task);
    for (const schema of other.subjects.bySubject.get(subject) ?? []) subjects.put(subject, schema);
    expect(await checkSchema(task, 'value', subjects)).toEqual({ subject, problem: undefined });
  });

  it('has nothing to say of JSON', async () => {
    const { subjects, task } = await setUp({ encoding: 'json' });
    expect(await checkSchema(task, 'value', subjects)).toBeUndefined();
  });
});

function withComment({ type, text }: NewSchema): string {
  if (type === 'PROTOBUF') return `// Orders.\n${text.replaceAll('{\n', '{ /* here */\n\n')}`;
  return JSON.stringify({ doc: 'Orders.', ...(JSON.parse(text) as object) }, undefined, 2);
}
