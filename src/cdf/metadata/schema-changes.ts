import { createHash } from 'node:crypto';
import { type JsonObject, type JsonValue, parseJson, printJson } from '../../base/bigint-json.ts';
import type { KafkaAdmin } from '../../kafka/client.ts';
import type { TableFormat } from '../../table/formats.ts';
import { changeEventVersion, splitName } from '../envelope.ts';
import type { FeedSpec } from '../feed-spec.ts';
import { selectedSchema } from '../selected-columns.ts';
import type { MetadataShape, MetadataTopic } from './metadata-topic.ts';
import { listOf, optional, required, shape } from './record-shape.ts';
import { tableDefinition, tableShape } from './table-definition.ts';
import type { ToldBeside, VersionRecords, VersionStep } from './version-records.ts';

const source = shape('tidewater.Source', [
  required('version', 'string'),
  required('connector', 'string'),
  required('name', 'string'),
  required('db', 'string'),
  required('table', 'string'),
  required('ts_ms', 'int64'),
  required('snapshot', 'string'),
  required('tableVersion', 'int64'),
  required('seq', 'int64'),
]);

const change = shape('io.debezium.connector.schema.Change', [
  required('type', 'string'),
  required('id', 'string'),
  optional('table', tableShape),
]);

/** As Debezium's schema change topics have them. */
export const schemaChangeShape: MetadataShape = {
  key: shape('io.debezium.connector.tidewater.SchemaChangeKey', [required('databaseName', 'string')]),
  value: shape('io.debezium.connector.tidewater.SchemaChangeValue', [
    required('source', source),
    required('ts_ms', 'int64'),
    optional('databaseName', 'string'),
    optional('schemaName', 'string'),
    optional('ddl', 'string'),
    required('tableChanges', listOf(change)),
  ]),
};

/** What was last told, as positions keep it: into which incarnation of the topic, of which table, and a hash of its definition. */
interface Told {
  readonly topicId: string;
  readonly tableId: string;
  readonly digest: string;
}

type SchemaChangesSpec = Pick<FeedSpec, 'pipeline' | 'table' | 'keyColumns' | 'select'>;

/**
 * The columns that the feed publishes, when they are not those that were told last: CREATE at its start and in a topic that was made anew, ALTER
 * with the first version that has others, DROP and CREATE when another table took the name.
 */
export class SchemaChanges implements VersionRecords {
  readonly #spec: SchemaChangesSpec;
  readonly #format: TableFormat;
  readonly #topic: MetadataTopic;
  #topicId = '';

  constructor(spec: SchemaChangesSpec, format: TableFormat, topic: MetadataTopic) {
    this.#spec = spec;
    this.#format = format;
    this.#topic = topic;
  }

  async open(admin: KafkaAdmin): Promise<void> {
    this.#topicId = await this.#topic.ensure(admin);
  }

  async of(step: VersionStep, signal?: AbortSignal): Promise<ToldBeside | undefined> {
    const { from, changes } = step;
    const table = tableDefinition(selectedSchema(this.#spec, changes), this.#spec.keyColumns);
    const now: Told = { topicId: this.#topicId, tableId: from.tableId, digest: digestOf(table) };
    const before = from.schema === undefined ? undefined : parseTold(from.schema);
    const told = before?.topicId === now.topicId ? before : undefined;
    if (told?.tableId === now.tableId && told.digest === now.digest) return undefined;
    const record = (type: 'CREATE' | 'ALTER' | 'DROP', of: JsonObject | undefined) => this.#record(step, type, of);
    const isOther = told !== undefined && told.tableId !== now.tableId;
    const records = isOther
      ? [record('DROP', undefined), record('CREATE', table)]
      : [record(told === undefined ? 'CREATE' : 'ALTER', table)];
    return { batches: [await this.#topic.encode(records, signal)], position: { schema: printTold(now) } };
  }

  #record({ changes, snapshot }: VersionStep, type: string, table: JsonObject | undefined): Parameters<MetadataTopic['encode']>[0][number] {
    const { database, table: name } = splitName(this.#spec.table);
    const { version, committedAt } = changes;
    const place = {
      version: changeEventVersion,
      connector: this.#format,
      name: this.#spec.pipeline,
      db: database,
      table: name,
      ts_ms: committedAt,
      snapshot: snapshot ? 'true' : 'false',
      tableVersion: version,
      seq: 0,
    };
    const tableChanges = [{ type, id: `"${database}"."${name}"`, table }];
    return {
      key: { databaseName: database },
      value: { source: place, ts_ms: committedAt, databaseName: database, tableChanges },
      timestampMs: committedAt,
    };
  }
}

/** As positions keep it, so that it stays short whatever the table's columns. */
function digestOf(table: JsonObject): string {
  return createHash('sha256').update(printJson(table)).digest('hex').slice(0, 32);
}

function printTold({ topicId, tableId, digest }: Told): string {
  return printJson([topicId, tableId, digest]);
}

/** What is no such text was told by nobody. */
function parseTold(text: string): Told | undefined {
  const root = parseJson(text, 'what was told of a table');
  const parts: readonly JsonValue[] = Array.isArray(root) ? root : [];
  const [topicId, tableId, digest] = parts;
  return typeof topicId === 'string' && typeof tableId === 'string' && typeof digest === 'string'
    ? { topicId, tableId, digest }
    : undefined;
}
