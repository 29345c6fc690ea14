import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/load-config.ts';
import { load, loadError } from './config-support.ts';

const flights = `
pipeline: demo
tables:
  - name: flights
    columns:
      - { name: id, type: long, nullable: false }
      - { name: origin, type: string }
      - { name: at, type: timestamp, from: timestamp }
    partitionBy: [origin]
`;

describe('what is loaded', () => {
  it('a pipeline name is enough, the rest has defaults', () => {
    const { config } = load({ yaml: 'pipeline: demo' });
    expect(config.kafka.brokers).toEqual([]);
    expect(config.redis.url).toBeUndefined();
    expect(config.dataDir).toBe('/work/.tidewater');
    expect(config.ingest).toMatchObject({
      groupId: 'tidewater-demo',
      maxBatchRows: 250_000,
      maxBatchBytes: 32 * 2 ** 20,
      maxBatchAgeMs: 1_000,
      routes: [],
    });
    expect(config.ingest.deadLetters).toEqual({
      topic: 'demo.dlq',
      replayTopic: 'demo.dlq.replay',
      partitions: 1,
      onReject: 'dead-letter',
      oversize: 'truncate',
    });
    expect(config.maintenance).toMatchObject({ enabled: true, queuePrefix: 'tidewater:demo', sweepIntervalMs: 60_000 });
    expect(config.server).toMatchObject({ host: '127.0.0.1', port: 9464, allowRemote: false });
  });

  it('feeds of one table have names, topics and positions of their own', () => {
    const feeds = '[{ table: flights }, { table: flights, name: nl, where: "origin = \'AMS\'" }, { table: flights, name: x, topic: y }]';
    const { config } = load({ yaml: `${flights}feeds: ${feeds}` });
    expect(config.feeds.map(({ name, topic, where }) => [name, topic, where])).toEqual([
      ['cdf.flights', 'cdf.flights', undefined],
      ['nl', 'cdf.flights.nl', "origin = 'AMS'"],
      ['x', 'y', undefined],
    ]);
  });

  it('the result is frozen through and through', () => {
    const { config } = load({ yaml: flights });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.ingest.deadLetters)).toBe(true);
    expect(Object.isFrozen(config.tables[0]?.definition.schema.fields[0])).toBe(true);
  });

  it('a table has its schema, its sources and an absolute location', () => {
    const { config } = load({ yaml: flights });
    const [table] = config.tables;
    expect(table?.location).toBe('/work/.tidewater/tables/flights');
    expect(table?.definition).toEqual({
      schema: {
        kind: 'struct',
        fields: [
          { name: 'id', type: { kind: 'long' }, nullable: false },
          { name: 'origin', type: { kind: 'string' }, nullable: true },
          { name: 'at', type: { kind: 'timestamp' }, nullable: true },
        ],
      },
      partitionColumns: ['origin'],
      properties: {},
    });
    expect([...(table?.sources ?? [])]).toEqual([
      ['id', { kind: 'value', name: 'id' }],
      ['origin', { kind: 'value', name: 'origin' }],
      ['at', { kind: 'timestamp' }],
    ]);
  });

  it('URIs and absolute directories are left as they are', () => {
    const located = (path: string): string | undefined =>
      load({ yaml: flights, overrides: [`tables.flights.path=${path}`] }).config.tables[0]?.location;
    expect([located('file:///data/flights'), located('/data/flights'), located('x/y')]).toEqual([
      'file:///data/flights',
      '/data/flights',
      '/work/.tidewater/x/y',
    ]);
  });

  it('a feed takes over what it does not say from the defaults', () => {
    const { config } = load({
      yaml: `${flights}
feedDefaults: { topicPrefix: lake, onGap: skip, maxTransactionRows: 10 }
feeds:
  - { table: flights, keyColumns: [id], start: { version: 3 }, maxTransactionRows: 20 }
`,
    });
    expect(config.feeds).toHaveLength(1);
    expect(config.feeds[0]).toMatchObject({
      topic: 'lake.flights',
      positionsTopic: 'lake._positions',
      keyColumns: ['id'],
      start: { kind: 'version', version: 3 },
      onGap: 'skip',
      maxTransactionRows: 20,
      envelope: 'debezium',
      tombstones: true,
    });
  });

  it('TLS may be true or a map, and broker lists may come as one text', () => {
    const { kafka } = load({ yaml: 'pipeline: demo\nkafka: { brokers: "a:1, b:2", ssl: true }' }).config;
    expect(kafka.brokers).toEqual(['a:1', 'b:2']);
    expect(kafka.ssl?.rejectUnauthorized).toBe(true);
    expect(load({ yaml: 'pipeline: demo\nkafka: { ssl: { serverName: x } }' }).config.kafka.ssl?.serverName).toBe('x');
    expect(load({ yaml: 'pipeline: demo\nkafka: { ssl: false }' }).config.kafka.ssl).toBeUndefined();
  });
});

describe('layers', () => {
  it('later files win key by key, environment over files, --set over all', () => {
    const { config } = load({
      files: {
        'a.yaml': 'pipeline: demo\ningest: { maxBatchRows: 1, workers: 2, maxFetchWait: 10ms }',
        'b.yaml': 'ingest: { maxBatchRows: 3 }',
      },
      env: { TIDEWATER__ingest__workers: '4', TIDEWATER__INGEST__MAXFETCHWAIT: '20ms', OTHER: 'x' },
      overrides: ['ingest.workers=5'],
    });
    expect(config.ingest).toMatchObject({ maxBatchRows: 3, maxFetchWaitMs: 20, workers: 5 });
  });

  it('--set reaches into lists by index and by name, takes YAML collections, and null removes', () => {
    const { config } = load({
      yaml: `${flights}feeds: [{ table: flights, keyColumns: [id] }]`,
      overrides: [
        'tables[0].columns.origin.type=binary',
        'tables.flights.partitionBy=null',
        'feeds.flights.keyColumns=[id, origin]',
        'ingest.routes=[{topics: [t], table: flights}]',
      ],
    });
    expect(config.tables[0]?.definition.schema.fields[1]?.type).toEqual({ kind: 'binary' });
    expect(config.tables[0]?.definition.partitionColumns).toEqual([]);
    expect(config.feeds[0]?.keyColumns).toEqual(['id', 'origin']);
    expect(config.ingest.routes).toEqual([
      { topics: ['t'], table: 'flights', value: { kind: 'json', framed: false }, key: undefined, at: ['routes', 0] },
    ]);
  });

  it('addresses a feed by its name before its table, and by its topic', () => {
    const yaml = `pipeline: demo
tables: [{ name: orders, columns: [{ name: id, type: long }] }, { name: nl, columns: [{ name: id, type: long }] }]
feeds: [{ table: nl }, { table: orders, name: nl }, { table: orders, topic: cdf.all }]
`;
    const envelopes = (override: string) => load({ yaml, overrides: [override] }).config.feeds.map(({ envelope }) => envelope);
    expect(envelopes('feeds.nl.envelope=flat')).toEqual(['debezium', 'flat', 'debezium']);
    expect(envelopes('feeds[cdf.all].envelope=flat')).toEqual(['debezium', 'debezium', 'flat']);
    expect(loadError({ yaml, overrides: ['feeds.orders.envelope=flat'] }).message).toContain('several entries "orders": [1], [2]');
  });

  it('a --set value is text, never a reference', () => {
    expect(load({ yaml: 'pipeline: demo', overrides: ['kafka.clientId=${HOME}'] }).config.kafka.clientId).toBe('${HOME}');
  });

  it.each(['x', '=1', 'a..b=1', 'pipeline.deeper=1', 'tables.missing.path=x'])('--set %s is refused', (override) => {
    expect(loadError({ yaml: flights, overrides: [override] }).code).toBe('CONFIG_OVERRIDE_INVALID');
  });
});

describe('what is refused', () => {
  it('an unknown key, with file, line, column and the nearest name', () => {
    const error = loadError({ yaml: 'pipeline: demo\ningest:\n  maxBatchRow: 5\n' });
    expect(error.code).toBe('CONFIG_UNKNOWN_KEY');
    expect(error.message).toBe('a.yaml:3:3: ingest.maxBatchRow: unknown key; did you mean "maxBatchRows"?');
    expect(error.hint).toContain('maxBatchRows');
  });

  it('an unknown key in the environment and in --set, with its origin', () => {
    expect(loadError({ yaml: 'pipeline: demo', env: { TIDEWATER__kafka__broker: 'x' } }).message).toBe(
      'environment TIDEWATER__kafka__broker: kafka.broker: unknown key; did you mean "brokers"?',
    );
    expect(loadError({ yaml: 'pipeline: demo', overrides: ['serve.port=1'] }).message).toContain(
      '--set serve.port: serve: unknown key; did you mean "server"?',
    );
  });

  it('__proto__ is an unknown key like any other', () => {
    expect(loadError({ yaml: 'pipeline: demo\n__proto__: { polluted: true }' }).code).toBe('CONFIG_UNKNOWN_KEY');
    expect(Object.keys(Object.prototype)).toEqual([]);
  });

  it('only a table of dead letters may leave its columns out, and has a route of its own', () => {
    const { config } = load({ yaml: 'pipeline: demo\ntables: [{ name: letters }]\ningest: { deadLetters: { table: letters } }' });
    expect(config.tables[0]?.definition.schema.fields.map(({ name }) => name)).toContain('source_offset');
    expect(config.ingest.routes).toEqual([
      { topics: ['demo.dlq'], table: 'letters', value: { kind: 'letter' }, key: undefined, at: ['deadLetters', 'table'] },
    ]);
  });

  it('a missing required key', () => {
    const error = loadError({ yaml: '{}' });
    expect([error.code, error.message]).toEqual(['CONFIG_MISSING_KEY', 'a.yaml:1:1: pipeline: is required']);
    const bare = loadError({ yaml: 'pipeline: demo\ntables: [{ name: t }]\ningest: { deadLetters: { table: u } }' });
    expect(bare.code).toBe('CONFIG_MISSING_KEY');
    expect(bare.message).toContain('tables[0].columns: is required');
    expect(bare.message).toContain('ingest.deadLetters.table: no table is called "u"');
  });

  it('all problems at once, each with its place', () => {
    const error = loadError({ yaml: 'pipeline: Demo\nserver: { port: 70000 }\nlogging: { level: inf }\n' });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message.split('\n')).toEqual([
      'a.yaml:1:1: pipeline: "Demo" is no pipeline name (lower case letters, digits and inner hyphens)',
      'a.yaml:2:11: server.port: 70000 is outside 0 to 65535',
      'a.yaml:3:12: logging.level: "inf" is none of debug, info, warn, error, silent; did you mean "info"?',
    ]);
  });

  it('what is wrong inside one alternative of a choice', () => {
    expect(loadError({ yaml: 'pipeline: demo\nkafka: { ssl: { ca: /etc/ca.pem } }' }).message).toContain(
      'kafka.ssl.ca: "/etc/ca.pem" is not PEM text',
    );
    expect(loadError({ yaml: 'pipeline: demo\nkafka: { ssl: { cacert: x } }' }).message).toContain('kafka.ssl.cacert: unknown key');
    expect(loadError({ yaml: 'pipeline: demo\nfeedDefaults: { start: { version: -1 } }' }).message).toContain(
      'feedDefaults.start.version: -1 is outside 0 to',
    );
    expect(loadError({ yaml: 'pipeline: demo\nfeedDefaults: { start: never }' }).message).toContain(
      'expected snapshot, earliest or {version: <number>}',
    );
  });

  it.each([
    ['ingest: { maxBatchAge: 5 }', '"5" has no unit'],
    ['ingest: { maxBatchAge: 2h }', '2h is outside 10ms to 1h'],
    ['ingest: { maxBatchBytes: 64MB, maxBufferBytes: 32MiB }', 'exceed ingest.maxBufferBytes'],
    ['ingest: { maxBatchRows: 1.5 }', 'expected a whole number'],
    ['maintenance: { enabled: maybe }', 'expected true or false'],
    ['redis: { url: "http://x" }', 'must start with redis:// or rediss://'],
    ['tables: [{ name: t, columns: [] }]', 'must have at least one column'],
    [
      'tables: [{ name: t, columns: [{ name: a, type: long }] }]\ningest: { deadLetters: { table: t }, routes: [{ topics: [o], table: t }] }',
      'table "t" has a route, and letters are no records of it',
    ],
    [
      'tables: [{ name: t, columns: [{ name: reason, type: long }] }]\ningest: { deadLetters: { table: t } }',
      'column "reason" of type long cannot hold "reason" of a dead letter',
    ],
    ['ingest: { deadLetters: { replayTopic: demo.dlq } }', '"demo.dlq" is the dead-letter topic'],
    ['tables: [{ name: t, columns: [{ name: a, type: lng }] }]', 'Unsupported data type "LNG" (line 1, column 1)'],
    ['tables: [{ name: t, columns: [{ name: a, type: long }, { name: A, type: long }] }]', '"A" repeats the column "a"'],
    ['tables: [{ name: t, columns: [{ name: a, type: long, from: topic }] }]', 'a column from the topic has type string, not long'],
    ['tables: [{ name: t, columns: [{ name: a, type: string, from: topic, member: x }] }]', 'a column from the topic has no member'],
    [
      'tables: [{ name: t, columns: [{ name: a, type: long }, { name: b, type: binary }], partitionBy: [b] }]',
      '"b" has type binary, which no partition can have',
    ],
    ['tables: [{ name: t, columns: [{ name: a, type: long }], partitionBy: [a] }]', 'leaves no column for the data files'],
    ['tables: [{ name: t, columns: [{ name: a, type: long }], partitionBy: [x] }]', '"x" is no column of the table'],
    ['ingest: { routes: [{ topics: [t], table: nowhere }] }', 'no table is called "nowhere"'],
    ['ingest: { routes: [{ topics: [], table: t }] }', 'must name at least one topic'],
    [
      'tables: [{ name: t, columns: [{ name: a, type: long }] }]\ningest: { routes: [{ topics: [t], table: T }] }',
      'no table is called "T"; did you mean "t"?',
    ],
    ['feeds: [{ table: nowhere }]', 'no table is called "nowhere"'],
    ['feedDefaults: { topicPrefix: "a b" }', '"a b" is no topic name'],
    ...[
      [`value: { format: avro, schemaId: none, schema: '{"type":"recrd"}' }`, 'value: the Avro schema of a route cannot be read'],
      [
        `value: { format: avro, schemaId: none, schema: '{"type":"record","name":"R","fields":[{"name":"a","type":["null","R"]}]}' }`,
        'value: the schema: type R contains itself',
      ],
      [`value: { format: protobuf, schema: 'message M {', message: M }`, 'value: the Protobuf schema of a route cannot be read'],
      [
        `key: { format: protobuf, schema: 'syntax = "proto3"; message M {}', message: N }`,
        'key: the Protobuf schema of a route has no message "N"',
      ],
    ].map(([part = '', problem = '']) => [
      `tables: [{ name: t, columns: [{ name: a, type: long }, { name: b, type: string, from: key, member: x }] }]\ningest: { routes: [{ topics: [t], table: t, ${part} }] }`,
      `ingest.routes[0].${problem}`,
    ]),
  ])('%s', (yaml, problem) => {
    const error = loadError({ yaml: `pipeline: demo\n${yaml}` });
    expect(error.code).toBe('CONFIG_INVALID');
    expect(error.message).toContain(problem);
  });

  it('a feed that publishes to a topic ingest reads', () => {
    const yaml = `${flights}ingest: { routes: [{ topics: [cdf.flights], table: flights }] }\nfeeds: [{ table: flights }]`;
    expect(loadError({ yaml }).message).toContain('"cdf.flights" is read by ingest');
  });

  it('a key column the table does not have', () => {
    expect(loadError({ yaml: `${flights}feeds: [{ table: flights, keyColumns: [nr] }]` }).message).toContain(
      'table "flights" has no column "nr"',
    );
  });

  it.each([
    ['envelope: after', 'keyColumns: envelope after says by the key what is deleted'],
    ['envelope: after, keyColumns: [id], tombstones: false', 'tombstones: a delete in envelope after is a record with a null value'],
    ['envelope: cloudevents, schemas: true', 'schemas: a CloudEvent has none'],
    ['envelope: cloudevents, encoding: avro', 'encoding: a CloudEvent in structured mode is JSON'],
    ['encoding: avro', 'encoding: avro needs the registry that has the schemas; set schemaRegistry.url'],
    ['keyEncoding: protobuf', 'encoding: protobuf needs the registry'],
    ['encoding: avro, schemas: true', 'schemas: the schemas of encoding avro are in the registry'],
    ['select: [other]', 'select: table "t" has no column "other"'],
    ['select: [n], keyColumns: [id]', 'select: leaves out "id", a column of the key'],
  ])('a feed of %s', (settings, problem) => {
    const yaml = `pipeline: p\ntables: [{ name: t, columns: [{ name: id, type: long }, { name: n, type: long }] }]\nfeeds: [{ table: t, ${settings} }]`;
    expect(loadError({ yaml }).message).toContain(problem);
  });

  it.each([
    ['{ table: t, where: "n > 1 AND nope = 2" }', /feeds\[1\]\.where: where "n > 1 AND nope = 2": at character 11: .*nope/],
    ['{ table: t, where: "n +" }', /feeds\[1\]\.where: .*at character 4/],
    ['{ table: t, where: "n" }', /feeds\[1\]\.where: .*BOOLEAN/i],
    ['{ table: t, where: "rand() > 0.5" }', /feeds\[1\]\.where: .*another value each time/],
    ['{ table: t, topic: cdf.t }', /feeds\[1\]\.topic: a second feed publishes to "cdf\.t": both are of table "t"/],
    ['{ table: t, name: cdf.t, topic: x }', /feeds\[1\]\.name: a second feed of table "t" is called "cdf\.t"/],
    ['{ table: t, topic: cdf._heartbeats }', /"cdf\._heartbeats" is the topic of heartbeats/],
    ['{ table: u, topic: cdf.t, envelope: flat }', /their envelopes differ, debezium and flat/],
    ['{ table: u, topic: cdf.t, topicConfig: { cleanup.policy: compact } }', /it is compacted/],
  ])('beside a feed of t, %s', (feed, problem) => {
    const table = (name: string): string => `{ name: ${name}, columns: [{ name: id, type: long }, { name: n, type: long }] }`;
    const yaml = `pipeline: p\ntables: [${table('t')}, ${table('u')}]\nfeeds:\n  - { table: t }\n  - ${feed}`;
    expect(loadError({ yaml }).message).toMatch(problem);
  });

  it('a missing file names itself', () => {
    const request = { files: ['none.yaml'], env: {}, workingDir: '/nowhere', readText: (path: string) => readFileSync(path, 'utf8') };
    expect(() => loadConfig(request)).toThrow(/configuration file none\.yaml cannot be read/);
  });
});
