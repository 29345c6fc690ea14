import { describe, expect, it } from 'vitest';
import { parseOffsets } from '../../../../src/config/migrate/sink-offsets.ts';
import type { PlannedColumn } from '../../../../src/config/migrate/sink-plan.ts';
import { parseColumnType } from '../../../../src/expr/parse/column-type.ts';
import { apacheConnectors, deltaConnectors, tabularConnectors } from './documented-connectors.ts';
import { icebergSink, type Migrated, migrate } from './migrating.ts';

const textOf = (all: typeof apacheConnectors, part: string): string => all.find(({ from }) => from.includes(part))?.text ?? '';

function columns(text: string): readonly PlannedColumn[] {
  const type = parseColumnType(`struct<${text}>`);
  return type.kind === 'struct' ? type.fields.map(({ name, type: of }) => ({ name, type: of })) : [];
}

describe('tables of the Iceberg sink', () => {
  it('are each a table and a route, by the field that routes', () => {
    const { config } = migrate(textOf(apacheConnectors, 'static routing'));
    expect(config.pipeline).toBe('events-sink');
    expect(config.tables.map(({ name, inCatalog }) => [name, inCatalog])).toEqual([
      ['events_list', { catalog: 'iceberg', namespace: ['default'], table: 'events_list' }],
      ['events_create', { catalog: 'iceberg', namespace: ['default'], table: 'events_create' }],
    ]);
    expect(config.ingest.routes.map(({ topics, table, where }) => [topics, table, where])).toEqual([
      [['events'], 'events_list', "type = 'list'"],
      [['events'], 'events_create', "type = 'create'"],
    ]);
  });

  it('take whole values by an expression, of a member too, and are called by more where names are shared', () => {
    const { config } = icebergSink({
      'iceberg.tables': 'a.t,b.t',
      'iceberg.tables.route-field': 'meta.kind',
      'iceberg.table.a.t.route-regex': 'x|y',
      'iceberg.table.b.t.route-regex': 'z',
    });
    expect(config.ingest.routes.map(({ table, where }) => [table, where])).toEqual([
      ['a.t', "meta.kind RLIKE '^(?:x|y)$'"],
      ['b.t', "meta.kind = 'z'"],
    ]);
  });

  it('that a field names are one to be copied, and nothing is written', () => {
    const { yaml, config } = migrate(textOf(tabularConnectors, 'dynamic'));
    expect(yaml).toContain("copy this table and its route for each, with where: lower(db_table) = 'default.first_table'.");
    expect(config.ingest.routes).toMatchObject([{ table: 'first_table', expect: [{ onFailure: 'suspend' }] }]);
  });

  it.each([
    [{ 'iceberg.tables.cdc-field': '_op' }, /iceberg.tables.cdc-field: rows are appended/],
    [{ 'iceberg.tables.upsert-mode-enabled': 'true' }, /iceberg.tables.upsert-mode-enabled: rows are appended/],
    [{ 'iceberg.tables.default-commit-branch': 'audit' }, /commits are to main, not to "audit"/],
    [{ 'iceberg.table.db.events.commit-branch': 'audit' }, /take expect out then: commits were to the branch audit/],
    [{ 'iceberg.tables.route-field': 'kind' }, /take expect out then: the table has no route-regex/],
    [{ 'iceberg.tables.schema-case-insensitive': 'true' }, /without a counterpart:\n# {3}iceberg.tables.schema-case-insensitive/],
    [{ 'topics.regex': '(?i)a.*', topics: '' }, /topics.regex: \(\?i\)a\.\* is an expression of Java/],
    [{ 'iceberg.table.db.events.partition-by': 'zone(ts)' }, /iceberg.table.db.events.partition-by: zone\(ts\)/],
  ])('what they cannot do is told: %j', (options, message) => {
    expect(icebergSink(options).yaml).toMatch(message);
  });

  it('have partitions, identifiers and properties where their columns are known', () => {
    const options = {
      'iceberg.tables.default-id-columns': 'id',
      'iceberg.tables.default-partition-by': 'days(ts), bucket(id, 16),kind',
      'iceberg.tables.auto-create-enabled': 'true',
      'iceberg.tables.auto-create-props.format-version': '2',
      'iceberg.tables.evolve-schema-enabled': 'true',
      'iceberg.control.commit.interval-ms': '300000',
    };
    const { config } = icebergSink(options, columns('id:long,ts:timestamp,kind:string'));
    const [table] = config.tables;
    expect(table?.definition.partitioning?.map(({ source, transform }) => [source, transform.kind])).toEqual([
      [['ts'], 'day'],
      [['id'], 'bucket'],
      [['kind'], 'identity'],
    ]);
    expect(table?.definition.identifierColumns).toEqual(['id']);
    expect(table?.definition.properties).toEqual({ 'format-version': '2' });
    expect(table?.evolve).toMatchObject({ addColumns: true, widenTypes: true, relaxRequired: true });
    expect(config.ingest.maxBatchAgeMs).toBe(300_000);
    const open = icebergSink(options);
    expect(open.yaml).toContain('before the first start: partitioning: [day(ts), bucket(16, id), kind]');
    expect(open.yaml).toContain('before the first start: identifierColumns: [id]');
  });

  it('of a pattern of topics are read by it', () => {
    expect(icebergSink({ topics: '', 'topics.regex': 'orders[.].*' }).config.ingest.routes[0]).toMatchObject({
      topics: [],
      topicPattern: 'orders[.].*',
    });
  });
});

describe('catalogs', () => {
  it.each([
    [
      {
        'iceberg.catalog.type': 'hadoop',
        'iceberg.catalog.warehouse': 's3a://lake/w',
        'iceberg.hadoop.fs.s3a.endpoint': 'http://minio:9000',
      },
      { type: 'hadoop', warehouse: 's3a://lake/w', uri: undefined, properties: { 's3.endpoint': 'http://minio:9000' } },
    ],
    [
      {
        'iceberg.catalog.catalog-impl': 'org.apache.iceberg.jdbc.JdbcCatalog',
        'iceberg.catalog.type': '',
        'iceberg.catalog.uri': 'jdbc:postgresql://db/c',
        'iceberg.catalog.warehouse': 's3://lake/w',
        'iceberg.catalog.jdbc.schema-version': 'V1',
      },
      { type: 'jdbc', uri: 'jdbc:postgresql://db/c', properties: { 'jdbc.schema-version': 'V1' } },
    ],
    [
      {
        'iceberg.catalog': 'my_lake',
        'iceberg.catalog.io-impl': 'org.apache.iceberg.aws.s3.S3FileIO',
        'iceberg.catalog.scope': 'PRINCIPAL_ROLE:ALL',
        'iceberg.catalog.client.region': 'eu-north-1',
      },
      { name: 'my_lake', type: 'rest', properties: { scope: 'PRINCIPAL_ROLE:ALL', 'client.region': 'eu-north-1' } },
    ],
    [
      { 'iceberg.catalog.type': 'hadoop', 'iceberg.catalog.warehouse': 'hdfs://nn/w' },
      { type: 'hadoop', warehouse: 's3://lake/warehouse' },
    ],
    [
      { 'iceberg.catalog.type': 'hive', 'iceberg.catalog.uri': 'thrift://hive:9083' },
      { type: 'rest', uri: 'https://rest.example/catalog' },
    ],
  ])('%j', (options, expected) => {
    expect(icebergSink(options as Record<string, string>).config.catalogs).toMatchObject([expected]);
  });

  it.each([
    ['hive', /put a REST catalog before the metastore/],
    ['glue', /signed by AWS/],
    ['nessie', /answers as a REST catalog/],
    ['dynamodb', /register the tables in a REST catalog/],
  ])('of type %s are refused, with what gets at their tables', (type, message) => {
    const { yaml, variables } = icebergSink({ 'iceberg.catalog.type': type });
    expect(yaml).toMatch(/CHECK, refused:\n# {3}iceberg.catalog.type: /);
    expect(yaml).toMatch(message);
    expect(variables).toContain('ICEBERG_REST_URI');
  });
});

describe('converters', () => {
  const registry = { 'value.converter.schema.registry.url': 'https://registry:8081' };
  it.each([
    [
      { 'value.converter': 'org.apache.kafka.connect.json.JsonConverter', 'value.converter.schemas.enable': 'true' },
      { kind: 'connect-json' },
    ],
    [
      { 'value.converter': 'org.apache.kafka.connect.json.JsonConverter', 'value.converter.schemas.enable': 'false' },
      { kind: 'json', framed: false },
    ],
    [
      { 'value.converter': 'io.confluent.connect.avro.AvroConverter', ...registry },
      { kind: 'avro', idIn: 'prefix' },
    ],
    [
      { 'value.converter': 'io.confluent.connect.protobuf.ProtobufConverter', ...registry },
      { kind: 'protobuf', idIn: 'prefix' },
    ],
    [
      { 'value.converter': 'io.confluent.connect.json.JsonSchemaConverter', ...registry },
      { kind: 'json', framed: true },
    ],
    [{ 'value.converter': 'org.apache.kafka.connect.storage.StringConverter' }, { kind: 'string' }],
    [{ 'value.converter': 'org.apache.kafka.connect.converters.ByteArrayConverter' }, { kind: 'bytes' }],
  ])('%j', (options, value) => {
    const { config } = icebergSink(options);
    expect(config.ingest.routes[0]?.value).toMatchObject(value);
    expect(config.schemaRegistry?.url).toBe(
      'schema.registry.url' in options || 'value.converter.schema.registry.url' in options ? 'https://registry:8081' : undefined,
    );
  });

  it.each([
    [
      {
        ...registry,
        'value.converter.basic.auth.credentials.source': 'USER_INFO',
        'value.converter.basic.auth.user.info': 'someone:hush-hush',
      },
    ],
    [{ 'value.converter.schema.registry.url': 'https://someone:hush-hush@registry:8081' }],
  ])('the log-in to the registry is variables: %j', (options) => {
    const { yaml, config } = icebergSink({ 'value.converter': 'io.confluent.connect.avro.AvroConverter', ...options });
    expect(yaml).not.toMatch(/someone|hush/);
    expect(config.schemaRegistry).toMatchObject({
      url: 'https://registry:8081',
      auth: { kind: 'basic', username: 'value-of-SCHEMA_REGISTRY_USER' },
    });
  });

  it('one that is not known is told, and nothing is written', () => {
    expect(icebergSink({ 'value.converter': 'com.example.C' }).yaml).toContain('take expect out then: value.converter com.example.C');
  });
});

describe('failures', () => {
  it.each([
    [{ 'errors.tolerance': 'none' }, { onReject: 'suspend' }],
    [{ 'errors.tolerance': '' }, { onReject: 'suspend' }],
    [{ 'errors.tolerance': 'all' }, { onReject: 'skip' }],
    [
      { 'errors.tolerance': 'all', 'errors.deadletterqueue.topic.name': 'bad' },
      { onReject: 'dead-letter', topic: 'bad' },
    ],
  ])('%j', (options, expected) => {
    expect(icebergSink(options as Record<string, string>).config.ingest.deadLetters).toMatchObject(expected);
  });
});

describe('the client', () => {
  it('has log-in and TLS of consumer.override, with the secrets as variables', () => {
    const { yaml, config, variables } = icebergSink({
      'consumer.override.security.protocol': 'SASL_SSL',
      'consumer.override.sasl.mechanism': 'SCRAM-SHA-256',
      'consumer.override.sasl.jaas.config':
        'org.apache.kafka.common.security.scram.ScramLoginModule required username="me" password="hush-hush";',
      'consumer.override.ssl.truststore.certificates': '-----BEGIN CERTIFICATE-----',
      'consumer.override.ssl.truststore.password': 'hush-too',
      'consumer.override.auto.offset.reset': 'latest',
      'consumer.override.max.poll.records': '5',
      'consumer.override.linger.ms': '5',
      'consumer.override.session.timeout.ms': '45000',
    });
    expect(yaml).not.toMatch(/hush/);
    expect(variables).toEqual(expect.arrayContaining(['KAFKA_USER', 'KAFKA_PASSWORD', 'KAFKA_CA_PEM']));
    expect(config.kafka).toMatchObject({ brokers: ['k:9092'], sasl: { mechanism: 'scram-sha-256', username: 'value-of-KAFKA_USER' } });
    expect(config.kafka.ssl?.ca).toContain('BEGIN CERTIFICATE');
    expect(config.ingest).toMatchObject({ startFrom: 'latest', sessionTimeoutMs: 45_000 });
    expect(yaml).toContain('consumer.override.linger.ms: no setting of the client here does this');
    expect(yaml).toContain('stores of Java are not read');
  });

  it('of Confluent Cloud logs in with its key', () => {
    const { config } = migrate(textOf(deltaConnectors, 'fully managed'));
    expect(config.kafka).toMatchObject({
      ssl: { rejectUnauthorized: true },
      sasl: { mechanism: 'plain', username: 'value-of-KAFKA_USER' },
    });
  });
});

describe('options', () => {
  it('that nobody knows are named, without their values', () => {
    const { yaml } = icebergSink({ 'my.passphrase': 'hush', 'iceberg.tables.new-thing': '1' });
    expect(yaml).toContain(
      '# CHECK, options that are not known, and of which nothing was made:\n#   my.passphrase\n#   iceberg.tables.new-thing\n',
    );
    expect(yaml).not.toContain('hush');
  });

  it.each([
    ['${env:CATALOG_TOKEN}', '"${CATALOG_TOKEN}"', 'CATALOG_TOKEN'],
    ['${file:/opt/secrets.properties:token}', '"${ICEBERG_CATALOG_TOKEN}"', 'ICEBERG_CATALOG_TOKEN'],
    ['plain', '"${ICEBERG_CATALOG_TOKEN}"', 'ICEBERG_CATALOG_TOKEN'],
  ])('that are secrets are variables: %s', (token, written, variable) => {
    const { yaml, variables } = icebergSink({ 'iceberg.catalog.token': token });
    expect(yaml).toContain(`token: ${written} # iceberg.catalog.token`);
    expect(variables).toEqual([variable]);
  });

  it('whose values Connect looks up are looked up here', () => {
    const { yaml, config } = icebergSink({
      'iceberg.catalog.uri': 'https://${env:CATALOG_HOST}/api',
      'iceberg.catalog.warehouse': 'w${x}$${env:Y',
    });
    expect(yaml).toContain('uri: "https://${CATALOG_HOST}/api"');
    expect(icebergSink({ 'iceberg.catalog.warehouse': '${env:A}/$${b}/${c}' }).config.catalogs[0]?.warehouse).toBe('value-of-A/$${b}/${c}');
    expect(config.catalogs[0]).toMatchObject({ uri: 'https://value-of-CATALOG_HOST/api', warehouse: 'w${x}$${env:Y' });
  });

  it('stand in a properties file too', () => {
    const { config } = migrate(
      [
        '# of a standalone worker',
        'name=from-properties',
        'connector.class = io.tabular.iceberg.connect.IcebergSinkConnector',
        'topics: a,\\',
        '   b',
        'iceberg.tables=db.caf\\u0065',
        'iceberg.catalog.type rest',
        'iceberg.catalog.uri=https\\://rest',
      ].join('\n'),
      { brokers: ['k:1'] },
    );
    expect(config.pipeline).toBe('from-properties');
    expect(config.ingest.routes).toMatchObject([{ topics: ['a', 'b'], table: 'cafe' }]);
    expect(config.catalogs).toMatchObject([{ uri: 'https://rest' }]);
  });

  it('alone, as GET …/config answers, are enough', () => {
    const options = {
      'connector.class': 'DatabricksDeltaLakeSink',
      name: 'flat',
      topics: 'eu.orders,us.orders',
      'input.data.format': 'JSON',
      'delta.lake.table.format': 'k_${topic}',
      'delta.lake.table2partition.map': 'k_eu.orders:partition',
      transforms: 'r',
      'transforms.r.type': 'org.apache.kafka.connect.transforms.RegexRouter',
      'transforms.r.regex': 'us[.](.*)',
      'transforms.r.replacement': 'usa_$1',
    };
    const { config } = migrate(JSON.stringify(options), { columns: columns('id:long') });
    expect(config.pipeline).toBe('flat');
    expect(config.tables.map(({ name, location, definition }) => [name, location, definition.partitionColumns])).toEqual([
      ['k_eu.orders', 's3://lake/tables/k_eu.orders', ['partition']],
      ['k_usa_orders', 's3://lake/tables/k_usa_orders', []],
    ]);
    expect(config.tables[0]?.definition.schema.fields.map(({ name }) => name)).toEqual(['id', 'partition']);
  });

  it('of a command line of kafka-delta-ingest are its words', () => {
    const { yaml, config } = migrate(
      'kafka-delta-ingest ingest orders s3://lake/orders -k k1:9092,k2:9092 -l 5 -o latest -K security.protocol=SASL_SSL sasl.username=me sasl.password=hush --avro=https://registry --dlq_table_location s3://lake/bad -t "at: kafka.timestamp" -c',
    );
    expect(yaml).not.toContain('hush');
    expect(config).toMatchObject({
      kafka: { brokers: ['k1:9092', 'k2:9092'], sasl: { mechanism: 'plain' } },
      schemaRegistry: { url: 'https://registry' },
      ingest: { startFrom: 'latest', maxBatchAgeMs: 5_000, deadLetters: { table: 'dead_letters' } },
    });
    expect(config.tables.map(({ name, location }) => [name, location])).toEqual([
      ['orders', 's3://lake/orders'],
      ['dead_letters', 's3://lake/bad'],
    ]);
    expect([...(config.tables[0]?.sources ?? [])]).toEqual([['at', { kind: 'timestamp' }]]);
  });
});

describe('offsets of the sink', () => {
  const sink = (topics: string, offsets: string): Migrated =>
    migrate(
      JSON.stringify({
        'connector.class': 'org.apache.iceberg.connect.IcebergSinkConnector',
        topics,
        'iceberg.tables': 'db.events',
        'iceberg.catalog.type': 'rest',
        'iceberg.catalog.uri': 'https://rest',
        'consumer.override.auto.offset.reset': 'latest',
      }),
      { offsets: parseOffsets(offsets) },
    );

  it('leave out what it has written, and let the rest begin at once', () => {
    const { config } = sink('a', 'a:0:12,a:1:0,a:2:7,other:0:9');
    expect(config.ingest.startFrom).toBe('earliest');
    expect(config.ingest.routes).toMatchObject([
      { where: 'NOT ((kafka_partition = 0 AND kafka_offset < 12) OR (kafka_partition = 2 AND kafka_offset < 7))' },
    ]);
    expect(config.ingest.routes[0]?.expect).toBeUndefined();
    expect(config.tables[0]?.definition.schema.fields.map(({ name }) => name)).toEqual(['kafka_partition', 'kafka_offset']);
  });

  it('are those of each topic', () => {
    expect(sink('a,b', 'a:0:1,b:0:2').config.ingest.routes[0]?.where).toBe(
      "NOT ((kafka_topic = 'a' AND ((kafka_partition = 0 AND kafka_offset < 1))) OR (kafka_topic = 'b' AND ((kafka_partition = 0 AND kafka_offset < 2))))",
    );
  });

  it.each(['', 'a', 'a:0', 'a:0:x', 'a:0:1,', 'a b:0:1'])('"%s" is none', (text) => {
    expect(parseOffsets(text)).toBeUndefined();
  });
});
