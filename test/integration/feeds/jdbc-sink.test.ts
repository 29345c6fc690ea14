import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { jdbcSink, privateConnect, startConnector } from '../../support/connect.ts';
import { privatePostgres } from '../../support/postgres.ts';
import { eventually } from '../../support/process.ts';
import { privateRegistry } from '../../support/schema-registry.ts';
import { kafkaBrokers } from '../../support/servers.ts';
import { temporarySession } from '../../support/temporary-session.ts';
import { createTable, Feeds } from './published-table.ts';

/* What Debezium's JDBC sink makes of a feed in a database is the table: docs/guides/consuming-feeds.md, "Into a database". */

const postgres = await privatePostgres();
const connect = postgres === undefined ? undefined : await privateConnect(kafkaBrokers(), jdbcSink);
const registry = connect === undefined ? undefined : await privateRegistry();
const caughtUpMs = 60_000;

afterAll(async () => {
  await registry?.[Symbol.asyncDispose]();
  await connect?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const columns =
  'id BIGINT NOT NULL, name STRING, n INT, small SMALLINT, flag BOOLEAN, price DECIMAL(24, 4), d DOUBLE, f FLOAT, day DATE, at TIMESTAMP, local TIMESTAMP_NTZ, data BINARY';
const first = [
  `(1, 'Ärger 🙂', 42, -7, true, 12345678901234567890.1234, -1.25e300, CAST(0.5 AS FLOAT), DATE '2024-05-01', TIMESTAMP '2024-05-01 10:11:12.123456', TIMESTAMP_NTZ '1969-12-31 23:59:59.999999', unhex('fb00ff'))`,
  ...[2, 3, 4].map((id) => `(${id}, ${Array.from({ length: 11 }, () => 'NULL').join(', ')})`),
  `(9007199254740993, 'large', 0, 0, false, 0.0000, 0D, CAST(0 AS FLOAT), DATE '1970-01-01', TIMESTAMP '1970-01-01 00:00:00', TIMESTAMP_NTZ '1970-01-01 00:00:00', unhex(''))`,
];

/** One row a line, as both sides can tell it. */
const inLake = (more: string): string =>
  `SELECT to_json(array(CAST(id AS STRING), name, CAST(n AS STRING), CAST(small AS STRING), CAST(flag AS STRING), CAST(price AS STRING), CAST(d = -1.25e300 AS STRING), CAST(f AS STRING), CAST(day AS STRING), date_format(at, 'yyyy-MM-dd HH:mm:ss.SSSSSS'), date_format(local, 'yyyy-MM-dd HH:mm:ss.SSSSSS'), lower(hex(data))${more})) AS line FROM t ORDER BY id`;
const inDatabase = (table: string, more: string): string =>
  `SELECT array_to_json(ARRAY[id::text, name, n::text, small::text, flag::text, price::text, (d = -1.25e300)::text, CASE f WHEN 0 THEN '0.0' ELSE f::text END, day::text, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.US'), to_char(local, 'YYYY-MM-DD HH24:MI:SS.US'), encode(data, 'hex')${more}])::text AS line FROM ${table} ORDER BY ${table}.id`;

/** Apicurio's converter as Confluent's reads records: by the number in front of them. */
function avroConverter(part: 'key' | 'value', registryUrl: string): Readonly<Record<string, string>> {
  const settings = {
    '': 'io.apicurio.registry.utils.converter.AvroConverter',
    '.apicurio.registry.url': registryUrl.replace('/ccompat/v7', '/registry/v2'),
    '.apicurio.registry.as-confluent': 'true',
    '.apicurio.registry.use-id': 'contentId',
    '.apicurio.registry.headers.enabled': 'false',
  };
  return Object.fromEntries(Object.entries(settings).map(([name, value]) => [`${part}.converter${name}`, value]));
}

describe('a feed that Debezium’s JDBC sink reads', () => {
  it.skipIf(registry === undefined).each([
    ['delta', 'json'],
    ['iceberg', 'avro'],
  ] as const)('of format %s and in %s makes the table of the database that of the lake', async (format, encoding) => {
    if (postgres === undefined || connect === undefined || registry === undefined) return;
    const { url } = registry.server;
    const { user, password, port } = postgres.server;
    const topic = `jdbc-${randomUUID()}`;
    await using made = await temporarySession();
    const { session } = made;
    const place = join(made.directory, 't');
    const feeds = new Feeds(made.directory, url);
    const publish = async (statements: readonly string[]): Promise<void> => {
      for (const statement of statements) await session.sql(statement);
      const records = { encoding, decimals: 'precise', times: 'adaptive' } as const;
      expect(await feeds.publish(place, { topic, schemas: encoding === 'json', records })).toMatchObject({
        state: 'stopped',
        error: undefined,
      });
    };
    await session.sql('SET TIME ZONE "UTC"');
    await publish([createTable(columns, format, place), `INSERT INTO t VALUES ${first.join(', ')}`]);
    await startConnector(connect.server, topic, {
      'connector.class': 'io.debezium.connector.jdbc.JdbcSinkConnector',
      topics: topic,
      'connection.url': `jdbc:postgresql://127.0.0.1:${port}/postgres`,
      'connection.username': user,
      'connection.password': password,
      'collection.name.format': format,
      'insert.mode': 'upsert',
      'delete.enabled': 'true',
      'primary.key.mode': 'record_key',
      'schema.evolution': 'basic',
      'consumer.override.isolation.level': 'read_committed',
      'consumer.override.auto.offset.reset': 'earliest',
      ...(encoding === 'avro' ? { ...avroConverter('key', url), ...avroConverter('value', url) } : {}),
    });
    const database = new Client({ host: '127.0.0.1', port, user, password, database: 'postgres' });
    // The server is stopped behind the back of a test that failed.
    database.on('error', () => undefined);
    await database.connect();
    const linesOf = (rows: readonly unknown[]): readonly unknown[] =>
      rows.map((row) => JSON.parse((row as { readonly line: string }).line) as unknown);
    const same = async (ids: readonly string[], more = ''): Promise<void> => {
      const wanted = linesOf(await (await session.sql(inLake(more))).collect());
      expect(wanted.map((row) => (row as readonly unknown[])[0])).toEqual(ids);
      await eventually(
        'the rows are in the database',
        async () => {
          expect(linesOf((await database.query(inDatabase(format, more))).rows)).toEqual(wanted);
          return true;
        },
        caughtUpMs,
      );
    };
    await same(['1', '2', '3', '4', '9007199254740993']);
    await publish([
      "UPDATE t SET name = 'changed', price = -0.0500 WHERE id IN (1, 2)",
      'DELETE FROM t WHERE id = 3',
      'UPDATE t SET id = 40 WHERE id = 4',
      "MERGE INTO t USING (SELECT 2 AS id UNION ALL SELECT 5) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = -2147483648 WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, 'merged')",
      'ALTER TABLE t ADD COLUMN extra STRING',
      "UPDATE t SET extra = 'later' WHERE id = 40",
    ]);
    await same(['1', '2', '5', '40', '9007199254740993'], ', extra');
    await database.end();
    await feeds.close();
  });
});
