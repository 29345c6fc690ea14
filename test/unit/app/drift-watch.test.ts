import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DriftWatch } from '../../../src/app/drift-watch.ts';
import { openComponents } from '../../../src/app/open-components.ts';
import { createSession } from '../../../src/app/session.ts';
import { isServiceError } from '../../../src/base/errors.ts';
import { SystemClock } from '../../../src/base/system-clock.ts';
import { loadConfig } from '../../../src/config/load-config.ts';
import type { Config } from '../../../src/config/settings.ts';
import { createLogger } from '../../../src/observability/logger.ts';
import type { TableFormat } from '../../../src/table/formats.ts';
import type { Table } from '../../../src/table/table.ts';
import { withTemporaryDirectory } from '../../support/servers.ts';

/** A table as it is declared, in YAML. */
interface Declaration {
  readonly columns?: Readonly<Record<string, string>>;
  readonly rest?: string;
}

const columns = {
  id: '{ name: id, type: long, nullable: false }',
  amount: '{ name: amount, type: "decimal(12,2)" }',
  count: '{ name: count, type: integer }',
  place: '{ name: place, type: "struct<city:string,zip:string not null>" }',
  tags: '{ name: tags, type: "array<string>" }',
  day: '{ name: day, type: date }',
};

interface Case {
  readonly what: string;
  readonly formats: readonly TableFormat[];
  /** What the table was made with, and what the configuration says now; default: the same as all. */
  readonly table?: Declaration;
  readonly config?: Declaration;
  /** Every line of the error, or of the accepted ones. */
  readonly says: readonly string[];
  /** It is named and stops nothing. */
  readonly harmless?: boolean;
  /** It is in the status, and not in the log. */
  readonly quiet?: boolean;
}

const both: readonly TableFormat[] = ['delta', 'iceberg'];
const without = (name: keyof typeof columns): Declaration => ({
  columns: Object.fromEntries(Object.entries(columns).filter(([key]) => key !== name)),
});
const withColumn = (name: string, text: string): Declaration => ({ columns: { ...columns, [name]: text } });

const cases: readonly Case[] = [
  {
    what: 'another precision of a decimal',
    formats: both,
    config: withColumn('amount', '{ name: amount, type: "decimal(10,2)" }'),
    says: ['column "amount": configured decimal(10,2), the table has decimal(12,2)'],
  },
  {
    what: 'another scale of a decimal',
    formats: both,
    config: withColumn('amount', '{ name: amount, type: "decimal(12,4)" }'),
    says: ['column "amount": configured decimal(12,4), the table has decimal(12,2)'],
  },
  {
    what: 'a column that the table widened',
    formats: both,
    table: withColumn('count', '{ name: count, type: long }'),
    says: ['column "count": configured integer, the table has long'],
  },
  {
    what: 'a column that is wider in the configuration',
    formats: both,
    config: withColumn('count', '{ name: count, type: long }'),
    says: ['column "count": configured long, the table has integer'],
  },
  {
    what: 'a required column that may be null in the table',
    formats: both,
    config: withColumn('count', '{ name: count, type: integer, nullable: false }'),
    says: ['column "count": configured not null, the table has nullable'],
  },
  {
    what: 'a column that may be null and is required by the table',
    formats: both,
    config: withColumn('id', '{ name: id, type: long }'),
    says: ['column "id": configured nullable, the table has not null'],
  },
  {
    what: 'a column that the table lacks',
    formats: both,
    table: without('count'),
    says: ['column "count": configured integer, the table has no such column'],
  },
  {
    what: 'a name in another case',
    formats: both,
    config: withColumn('count', '{ name: Count, type: integer }'),
    says: ['column "Count": configured integer, the table has no such column (write "count")'],
  },
  {
    what: 'a column of the table that is not declared',
    formats: both,
    config: without('count'),
    says: ['column "count": configured no such column, the table has integer'],
    harmless: true,
  },
  {
    what: 'a required column of the table that is not declared',
    formats: both,
    config: without('id'),
    says: ['column "id": configured no such column, the table has long not null'],
  },
  {
    what: 'members of a struct',
    formats: both,
    config: withColumn('place', '{ name: place, type: "struct<city:long,zip:string,country:string>" }'),
    says: [
      'column "place.country": configured string, the table has no such column',
      'column "place.city": configured long, the table has string',
      'column "place.zip": configured nullable, the table has not null',
    ],
  },
  {
    what: 'elements of a list',
    formats: both,
    config: withColumn('tags', '{ name: tags, type: "array<string not null>" }'),
    says: ['column "tags.element": configured not null, the table has nullable'],
  },
  {
    what: 'other columns of the partitioning',
    formats: both,
    table: { rest: 'partitionBy: [day]' },
    says: ['partitioning: configured none, the table has day'],
  },
  {
    what: 'another transform of the partitioning',
    formats: ['iceberg'],
    table: { rest: 'partitioning: ["month(day)", "bucket(4, id)"]' },
    config: { rest: 'partitioning: ["day(day)", "bucket(8, id)"]' },
    says: ['partitioning: configured day(day), bucket[8](id), the table has month(day), bucket[4](id)'],
  },
  {
    what: 'other identifier columns',
    formats: ['iceberg'],
    table: { rest: 'identifierColumns: [id]' },
    says: ['identifier columns: configured none, the table has id'],
  },
  {
    what: 'another sort order',
    formats: ['iceberg'],
    table: { rest: 'sortBy: [id desc nulls first]' },
    config: { rest: 'sortBy: [day(day), id]' },
    says: ['sort order: configured days(day) ASC NULLS FIRST, id ASC NULLS FIRST, the table has id DESC NULLS FIRST'],
    harmless: true,
  },
  {
    what: 'a property',
    formats: ['delta'],
    config: {
      rest: 'properties: { delta.enableChangeDataFeed: "false", delta.feature.deletionVectors: supported, delta.minWriterVersion: "2" }',
    },
    says: [
      'property "delta.enableChangeDataFeed": configured false, the table has true',
      'property "delta.feature.deletionVectors": configured supported, the table has nothing',
    ],
    harmless: true,
  },
  {
    what: 'a version of the format',
    formats: ['iceberg'],
    config: { rest: 'properties: { format-version: "3", write.format.default: parquet }' },
    says: [
      'property "format-version": configured 3, the table has 2',
      'property "write.format.default": configured parquet, the table has nothing',
    ],
    harmless: true,
  },
  {
    what: 'what records may have made of it',
    formats: both,
    table: withColumn('more', '{ name: more, type: string }'),
    config: { columns, rest: 'evolve: { addColumns: true }' },
    says: ['column "more": configured no such column, the table has string'],
    harmless: true,
    quiet: true,
  },
  {
    what: 'wider types, and columns that are required no more, as records may have made them',
    formats: both,
    table: { columns: { ...columns, id: '{ name: id, type: long }', count: '{ name: count, type: long }' } },
    config: { columns, rest: 'evolve: { widenTypes: true, relaxRequired: true }' },
    says: ['column "id": configured not null, the table has nullable', 'column "count": configured integer, the table has long'],
    harmless: true,
    quiet: true,
  },
  {
    what: 'a narrower type where records may widen types',
    formats: both,
    config: { columns: { ...columns, count: '{ name: count, type: long }' }, rest: 'evolve: { widenTypes: true }' },
    says: ['column "count": configured long, the table has integer'],
  },
  {
    what: 'nothing, whatever the order of columns',
    formats: both,
    config: { columns: Object.fromEntries(Object.entries(columns).reverse()) },
    says: [],
  },
  {
    what: 'nothing, of what the format keeps otherwise',
    formats: ['iceberg'],
    table: withColumn('count', '{ name: count, type: short }'),
    config: withColumn('count', '{ name: count, type: short }'),
    says: [],
  },
];

function configOf(format: TableFormat, directory: string, declaration: Declaration = {}, onDrift = 'fail'): Config {
  const yaml = `
pipeline: p
tables:
  - name: orders
    format: ${format}
    path: ${join(directory, 'db', 'orders')}
    onDrift: ${onDrift}
    ${declaration.rest ?? ''}
    columns:
${Object.values(declaration.columns ?? columns)
  .map((column) => `      - ${column}`)
  .join('\n')}
`;
  return loadConfig({ files: ['/w/t.yaml'], env: {}, workingDir: '/w', readText: () => yaml }).config;
}

async function withTable(config: Config, use: (table: Table) => Promise<void>): Promise<void> {
  const components = openComponents({ config, role: 'command', brokers: [] });
  try {
    await use(await components.catalog.loadOrCreate('orders'));
  } finally {
    await components.close();
  }
}

/** A watch over the table of a configuration, with what it logs. */
function watchOf({ tables: [settings] }: Config): { readonly watch: DriftWatch; readonly log: string[] } {
  if (settings === undefined) throw new Error('the configuration has a table');
  const log: string[] = [];
  const logger = createLogger({
    level: 'info',
    format: 'json',
    clock: new SystemClock(),
    write: (line) => log.push(line),
    colour: false,
    fields: {},
  });
  return { watch: new DriftWatch(settings, { value: { kind: 'json', framed: false }, key: undefined }, logger), log };
}

async function refusalOf(run: () => unknown): Promise<string> {
  try {
    await run();
    return '';
  } catch (error) {
    if (!isServiceError(error, 'invalid')) throw error;
    expect(error.code).toBe('TABLE_DRIFT');
    expect(error.hint).toContain('onDrift');
    return error.message;
  }
}

describe('a table that is not what its configuration declares', () => {
  it.each(cases.flatMap((each) => each.formats.map((format) => ({ ...each, format }))))(
    'stops at its start in $format, or is named, for $what',
    async ({ format, table: made, config: declared, says, harmless = false, quiet = false }) => {
      await withTemporaryDirectory(async (directory) => {
        await withTable(configOf(format, directory, made), (table) => table.refresh().then(() => undefined));
        const config = configOf(format, directory, declared);
        await withTable(config, async (table) => {
          const { watch } = watchOf(config);
          const refusal = await refusalOf(() => watch.start(table));
          if (harmless || says.length === 0) expect(refusal).toBe('');
          for (const text of harmless ? [] : says) expect(refusal).toContain(text);
          if (harmless || says.length === 0) {
            expect(watch.differences.length).toBe(says.length);
            for (const text of says) expect(watch.differences.join('\n')).toContain(text);
          }
        });
        const lenient = configOf(format, directory, declared, 'warn');
        await withTable(lenient, async (table) => {
          const { watch, log } = watchOf(lenient);
          await watch.start(table);
          for (const text of says) expect(watch.differences.join('\n')).toContain(text);
          expect(log.length).toBe(quiet ? 0 : watch.differences.length);
          const spec = watch.decodeSpec(table.writeSpec(await table.refresh()));
          expect(spec.sources.length).toBe((await table.refresh()).schema.fields.length);
          expect(log.length).toBe(quiet ? 0 : watch.differences.length);
        });
      });
    },
  );

  it.each(both)('stops, or is named, when the table changes under a running ingest (%s)', async (format) => {
    await withTemporaryDirectory(async (directory) => {
      const config = configOf(format, directory);
      await withTable(config, async (table) => {
        const { watch } = watchOf(config);
        await watch.start(table);
        expect(watch.differences).toEqual([]);
        const name = format === 'delta' ? `delta.\`${table.location}\`` : 'ice.db.orders';
        const session = createSession({
          config: {
            'spark.sql.warehouse.dir': join(directory, 'other'),
            'tidewater.engine.threads': 1,
            'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
            'spark.sql.catalog.ice.type': 'hadoop',
            'spark.sql.catalog.ice.warehouse': directory,
          },
        });
        try {
          await session.sql(`ALTER TABLE ${name} ADD COLUMN note STRING`);
          watch.decodeSpec(table.writeSpec(await table.refresh()));
          expect(watch.differences).toEqual([expect.stringContaining('column "note": configured no such column, the table has string')]);
          await session.sql(`ALTER TABLE ${name} ALTER COLUMN id DROP NOT NULL`);
          const write = table.writeSpec(await table.refresh());
          expect(await refusalOf(() => watch.decodeSpec(write))).toContain('column "id": configured not null, the table has nullable');
        } finally {
          await session.stop();
        }
      });
    });
  });
});
