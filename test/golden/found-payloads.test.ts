import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../src/config/load-config.ts';
import { newPipelineYaml } from '../../src/config/new-pipeline.ts';
import { KnownSchemas } from '../../src/ingest/decode/known-schemas.ts';
import { RecordDecoder } from '../../src/ingest/decode/record-decoder.ts';
import { findPayload } from '../../src/ingest/infer/find-payload.ts';
import type { FoundPayload, SampledRecord } from '../../src/ingest/infer/found-payload.ts';
import type { RegisteredSchema, SchemaText } from '../../src/protocol/payload-encoding.ts';
import { type TableFormat, traitsOf } from '../../src/table/formats.ts';
import { bytesOf, goldenEvents } from '../support/golden-events.ts';
import { goldenPayloads } from '../support/golden-payloads.ts';
import { recordOf } from '../unit/ingest/decode/decoding.ts';

/*
 * What `tidewater init` writes for a topic takes each of its records: for captured records of other serializers and of Debezium (test/golden/CATALOGUE.md)
 * the configuration is valid as it is printed, and a decoder made of it rejects none.
 */

/** What schemas do not tell: times finer than tables have, the 24th hour, more than 38 digits. */
const finer = /whole microseconds|86400000000 does not fit a time|has more than 38 digits/u;

type Encoding = 'avro' | 'json-schema' | 'protobuf';
type Schemas = ReadonlyMap<string, SchemaText>;

function registered(type: SchemaText['type'], encoding: Encoding): Schemas {
  const { schemas } = goldenPayloads(encoding);
  const textOf = (subject: string, version: number): string =>
    schemas.find(({ subjects }) => subjects.some(([name, number]) => name === subject && number === version))?.schema ?? '';
  return new Map(
    schemas.map(({ id, schema, references }) => [
      `ids/${id}`,
      { type, text: schema, references: references.map(({ name, subject, version }) => ({ name, text: textOf(subject, version) })) },
    ]),
  );
}

interface Asked {
  readonly format: TableFormat;
  readonly wholeEvents?: boolean;
}

async function foundBy(records: readonly SampledRecord[], schemas: Schemas, { format, wholeEvents = false }: Asked): Promise<FoundPayload> {
  const schemaOf = (key: string): Promise<RegisteredSchema> => Promise.resolve({ key, schema: schemas.get(key) });
  return findPayload(records, { limits: traitsOf[format], schemaOf, wholeEvents });
}

/** Why records are rejected by what was found for them. */
async function refusalsOf(records: readonly SampledRecord[], schemas: Schemas, asked: Asked): Promise<readonly string[]> {
  const payload = await foundBy(records, schemas, asked);
  expect(payload.row.columns.length, payload.notes.join(' ')).toBeGreaterThan(0);
  const yaml = newPipelineYaml({
    topic: 't',
    table: 't',
    format: asked.format,
    brokers: ['b:9092'],
    registryUrl: 'http://r:8081',
    payload,
    basis: 'a test',
  });
  const { config } = loadConfig({ files: ['t.yaml'], env: {}, workingDir: '/', readText: () => yaml });
  const [table] = config.tables;
  if (table === undefined) throw new Error(yaml);
  const { schema } = table.definition;
  const known = new KnownSchemas();
  known.add([...schemas].map(([key, schema]) => ({ key, schema })));
  const decoder = new RecordDecoder(
    schema,
    {
      sources: schema.fields.map(({ name }) => table.sources.get(name) ?? { kind: 'value', name }),
      unknownMembers: 'ignore',
      value: config.ingest.routes[0]?.value,
    },
    { schemas: known },
  );
  return records.flatMap(({ value, headers }) => {
    const refusal = decoder.decode({ ...recordOf(value === undefined ? undefined : Buffer.from(value)), headers: () => headers });
    return refusal?.reason === undefined || finer.test(refusal.message) ? [] : [refusal.message];
  });
}

const decoded = (text: string | null): Uint8Array | undefined => (text === null ? undefined : Buffer.from(text, 'base64'));

function topicsOf(encoding: Encoding): readonly (readonly [topic: string, records: readonly SampledRecord[]])[] {
  const { records } = goldenPayloads(encoding);
  const topics = [...new Set(records.map(({ record }) => record.topic))];
  return topics.map((topic) => [
    topic,
    records.filter(({ record }) => record.topic === topic).map(({ record }) => ({ value: decoded(record.value), headers: [] })),
  ]);
}

describe('what is found for a topic takes its records', () => {
  it.each(topicsOf('avro'))('Avro, %s', async (topic, records) => {
    const schemas = registered('AVRO', 'avro');
    if (topic === 'enc.avro.tree') expect((await foundBy(records, schemas, { format: 'delta' })).notes.join()).toContain('contains itself');
    else expect(await refusalsOf(records, schemas, { format: 'delta' })).toEqual([]);
  });

  it.each(topicsOf('protobuf'))('Protobuf, %s', async (_, records) => {
    expect(await refusalsOf(records, registered('PROTOBUF', 'protobuf'), { format: 'iceberg' })).toEqual([]);
  });

  it.each(topicsOf('json-schema'))('JSON with schemas, %s', async (_, records) => {
    expect(await refusalsOf(records, registered('JSON', 'json-schema'), { format: 'delta' })).toEqual([]);
  });

  const { schemas, events } = goldenEvents();
  const tables = events.filter(({ table }) => table !== null);
  const captures = [...new Set(tables.map(({ capture, table }) => `${capture} ${table ?? ''}`))];
  it.each(
    captures.flatMap((capture) =>
      (['delta', 'iceberg'] as const).flatMap((format) =>
        (['rows', 'whole events'] as const).map((columns) => [capture, format, columns] as const),
      ),
    ),
  )('Debezium, %s, for %s, %s', async (name, format, columns) => {
    const [capture, table] = name.split(' ');
    const known = new Map(
      schemas
        .filter((schema) => schema.capture === capture)
        .map(({ id, schema }): [string, SchemaText] => [`ids/${id}`, { type: 'AVRO', text: schema, references: [] }]),
    );
    const records = tables
      .filter((event) => event.capture === capture && event.table === table)
      .map(
        (event): SampledRecord => ({
          value: bytesOf(event, 'value'),
          headers: (event.record.headers ?? []).map(([header, value]) => [header, Buffer.from(value, 'base64')]),
        }),
      );
    const asked = { format, wholeEvents: columns === 'whole events' };
    expect(await refusalsOf(records, known, asked)).toEqual([]);
    const { row } = await foundBy(records, known, asked);
    const isWhole = ['after', 'op', 'source'].every((member) => row.columns.some(({ name }) => name === member));
    // The connector of this capture unwraps its rows itself.
    expect(isWhole).toBe(asked.wholeEvents && capture !== 'ju');
  });
});
