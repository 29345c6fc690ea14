/*
 * Configurations as the documentation of the sinks has them, in facts: which options with which values. Where each is from is said with it.
 */

type Options = Readonly<Record<string, string>>;

export interface DocumentedConnector {
  /** What it shows, and where. */
  readonly from: string;
  readonly text: string;
}

function connector(from: string, config: Options, name = 'events-sink'): DocumentedConnector {
  return { from, text: JSON.stringify({ name, config }) };
}

const rest: Options = {
  'iceberg.catalog.type': 'rest',
  'iceberg.catalog.uri': 'https://localhost',
  'iceberg.catalog.credential': '<credential>',
  'iceberg.catalog.warehouse': '<warehouse name>',
};
const fanOut: Options = {
  'iceberg.tables': 'default.events_list,default.events_create',
  'iceberg.tables.route-field': 'type',
  'iceberg.table.default.events_list.route-regex': 'list',
  'iceberg.table.default.events_create.route-regex': 'create',
};
const byField: Options = { 'iceberg.tables.dynamic-enabled': 'true', 'iceberg.tables.route-field': 'db_table' };

function icebergSink(className: string): Options {
  return { 'connector.class': className, 'tasks.max': '2', topics: 'events' };
}

const apache = icebergSink('org.apache.iceberg.connect.IcebergSinkConnector');
const tabular = icebergSink('io.tabular.iceberg.connect.IcebergSinkConnector');

// apache/iceberg, docs/docs/kafka-connect.md: "Examples" and "Catalog configuration".
const page = 'Apache Iceberg, docs/docs/kafka-connect.md';
const single: Options = { ...apache, 'iceberg.tables': 'default.events' };
const s3FileIo = 'org.apache.iceberg.aws.s3.S3FileIO';

export const apacheConnectors: readonly DocumentedConnector[] = [
  connector(`${page}: single destination table`, { ...single, ...rest }),
  connector(`${page}: fan-out, static routing`, { ...apache, ...fanOut, ...rest }),
  connector(`${page}: fan-out, dynamic routing`, { ...apache, ...byField, ...rest }),
  connector(`${page}: Hive example`, {
    ...single,
    'iceberg.catalog.type': 'hive',
    'iceberg.catalog.uri': 'thrift://hive:9083',
    'iceberg.catalog.io-impl': s3FileIo,
    'iceberg.catalog.warehouse': 's3a://bucket/warehouse',
    'iceberg.catalog.client.region': 'us-east-1',
    'iceberg.catalog.s3.access-key-id': '<AWS access>',
    'iceberg.catalog.s3.secret-access-key': '<AWS secret>',
  }),
  connector(`${page}: Glue example`, {
    ...single,
    'iceberg.catalog.catalog-impl': 'org.apache.iceberg.aws.glue.GlueCatalog',
    'iceberg.catalog.warehouse': 's3a://bucket/warehouse',
    'iceberg.catalog.io-impl': s3FileIo,
  }),
  connector(`${page}: Nessie example`, {
    ...single,
    'iceberg.catalog.catalog-impl': 'org.apache.iceberg.nessie.NessieCatalog',
    'iceberg.catalog.uri': 'http://localhost:19120/api/v2',
    'iceberg.catalog.ref': 'main',
    'iceberg.catalog.warehouse': 's3a://bucket/warehouse',
    'iceberg.catalog.io-impl': s3FileIo,
  }),
  connector(`${page}: BigQuery Metastore example`, {
    ...single,
    'iceberg.catalog.catalog-impl': 'org.apache.iceberg.gcp.bigquery.BigQueryMetastoreCatalog',
    'iceberg.catalog.gcp.bigquery.project-id': 'my-project',
    'iceberg.catalog.gcp.bigquery.location': 'us-east1',
    'iceberg.catalog.warehouse': 'gs://bucket/warehouse',
    'iceberg.catalog.io-impl': 'org.apache.iceberg.gcp.gcs.GCSFileIO',
    'iceberg.tables.auto-create-props.bq_connection': 'projects/my-project/locations/us-east1/connections/my-connection',
  }),
  connector(`${page}: Azure ADLS example`, {
    ...single,
    'iceberg.catalog.type': 'rest',
    'iceberg.catalog.uri': 'https://catalog:8181',
    'iceberg.catalog.warehouse': 'abfss://storage-container-name@storageaccount.dfs.core.windows.net/warehouse',
    'iceberg.catalog.io-impl': 'org.apache.iceberg.azure.adlsv2.ADLSFileIO',
    'iceberg.catalog.include-credentials': 'true',
  }),
  connector(`${page}: Google GCS example`, {
    ...single,
    'iceberg.catalog.type': 'rest',
    'iceberg.catalog.uri': 'https://catalog:8181',
    'iceberg.catalog.warehouse': 'gs://bucket-name/warehouse',
    'iceberg.catalog.io-impl': 'org.apache.iceberg.gcp.gcs.GCSFileIO',
  }),
  connector(`${page}: CopyValue`, {
    ...single,
    ...rest,
    transforms: 'copyId',
    'transforms.copyId.type': 'org.apache.iceberg.connect.transforms.CopyValue',
    'transforms.copyId.source.field': 'id',
    'transforms.copyId.target.field': 'id_copy',
  }),
];

// tabular-io/iceberg-kafka-connect, README.md: "Examples".
const readme = 'tabular-io/iceberg-kafka-connect, README.md';
export const tabularConnectors: readonly DocumentedConnector[] = [
  connector(`${readme}: single destination table`, { ...tabular, 'iceberg.tables': 'default.events', ...rest }),
  connector(`${readme}: fan-out, static routing`, { ...tabular, ...fanOut, ...rest }),
  connector(`${readme}: fan-out, dynamic routing`, { ...tabular, ...byField, ...rest }),
  connector(`${readme}: change data capture`, {
    ...tabular,
    'iceberg.tables': 'default.events',
    'iceberg.tables.cdc-field': '_cdc_op',
    ...rest,
  }),
];

// Confluent's Databricks Delta Lake sink as vdesabou/kafka-docker-playground runs it (connect-databricks-delta-lake-sink), self-managed and in the cloud.
const playground = 'kafka-docker-playground, connect-databricks-delta-lake-sink';
const databricks: Options = {
  topics: 'pageviews',
  'delta.lake.host.name': 'dbc.cloud.databricks.com',
  'delta.lake.http.path': 'sql/protocolv1/o/1/2',
  'delta.lake.token': 'dapi-token-of-databricks',
  'delta.lake.topic2table.map': 'pageviews:pageviews',
  'delta.lake.table.auto.create': 'true',
  'staging.s3.access.key.id': 'AKIA-of-staging',
  'staging.s3.secret.access.key': 'secret-of-staging',
  'staging.bucket.name': 'staging',
  'flush.interval.ms': '100',
  'tasks.max': '1',
};
export const deltaConnectors: readonly DocumentedConnector[] = [
  connector(
    `${playground}: self-managed`,
    {
      ...databricks,
      'connector.class': 'io.confluent.connect.databricks.deltalake.DatabricksDeltaLakeSinkConnector',
      's3.region': 'us-east-1',
      'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
      'value.converter': 'io.confluent.connect.avro.AvroConverter',
      'value.converter.schema.registry.url': 'http://schema-registry:8081',
      'confluent.topic.bootstrap.servers': 'broker:9092',
      'confluent.topic.replication.factor': '1',
    },
    'databricks-delta-lake-sink',
  ),
  connector(
    `${playground}: fully managed`,
    {
      ...databricks,
      'connector.class': 'DatabricksDeltaLakeSink',
      'input.data.format': 'AVRO',
      'kafka.auth.mode': 'KAFKA_API_KEY',
      'kafka.api.key': 'key-of-cloud',
      'kafka.api.secret': 'secret-of-cloud',
    },
    'DatabricksDeltaLakeSink',
  ),
  // delta-io/kafka-delta-ingest, README.adoc: "Starting Worker Processes".
  {
    from: 'kafka-delta-ingest, README.adoc: web_requests',
    text: [
      'RUST_LOG=debug cargo run --features s3,dynamic-linking ingest web_requests ./tests/data/web_requests \\',
      '  --allowed_latency 60 \\',
      '  --app_id web_requests \\',
      "  --transform 'date: substr(meta.producer.timestamp, `0`, `10`)' \\",
      "  --transform 'meta.kafka.offset: kafka.offset' \\",
      "  --transform 'meta.kafka.partition: kafka.partition' \\",
      "  --transform 'meta.kafka.topic: kafka.topic' \\",
      '  --auto_offset_reset earliest',
    ].join('\n'),
  },
];
