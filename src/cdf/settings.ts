import { z } from 'zod';
import {
  booleanField,
  byteSizeField,
  choiceField,
  durationField,
  integerField,
  textField,
  textListField,
  textMapField,
} from '../base/setting-fields.ts';
import { topicNameHint, topicNamePattern } from '../kafka/topic-name.ts';
import { type Envelope, plainRecords, type RecordSettings } from '../protocol/change-event.ts';
import { completeRecords, type PartialRecords, recordFields, takeRecords } from './record-settings.ts';

const maxFeeds = 256;
const maxKeyColumns = 32;
const maxSelectedColumns = 10_000;
const maxConditionLength = 10_000;

/** Where a feed without a stored position starts: `version` publishes the changes of that version first. */
export type FeedStart =
  | { readonly kind: 'snapshot' }
  | { readonly kind: 'earliest' }
  | { readonly kind: 'version'; readonly version: number };

/** When versions a feed needs are gone: stop, publish a fresh snapshot, or go on at the oldest version there is. */
export type GapPolicy = 'fail' | 'resnapshot' | 'skip';

/** When the positions topic has no position although the feed's topic was published to: stop, find it in the topic's records, publish a fresh snapshot. */
export type LostPositionPolicy = 'fail' | 'recover' | 'resnapshot';

/** When the feed's topic is not the one that was published to: stop, publish a fresh snapshot into it, go on where the feed stands. */
export type TopicReplacedPolicy = 'fail' | 'resnapshot' | 'continue';

/** When another table has the name of the one that was published: stop, publish a fresh snapshot of it, go on with what its log says follows. */
export type TableReplacedPolicy = 'fail' | 'resnapshot' | 'continue';

/** Records about a feed's table, in a topic of their own. */
export interface MetadataTopicSettings {
  readonly topic: string;
}

/** One change feed, complete: what the file leaves out is filled in from `feedDefaults`. */
export interface FeedSettings {
  readonly table: string;
  /** Tells the feeds of a table apart. Without one of its own: the topic. */
  readonly name: string;
  readonly topic: string;
  readonly positionsTopic: string;
  readonly envelope: Envelope;
  readonly records: RecordSettings;
  /** Keys and values come with their schemas, as Kafka Connect's JsonConverter has them. */
  readonly schemas: boolean;
  /** Columns of the record key, empty: no key. */
  readonly keyColumns: readonly string[];
  /** Columns that are published, empty: all. */
  readonly select: readonly string[];
  /** Condition in SQL over the table's columns: rows of which it is not true are none of the feed's. */
  readonly where: string | undefined;
  /** Partitions of the topic when it has to be created. */
  readonly partitions: number;
  /** `undefined`: the broker's default. */
  readonly replicationFactor: number | undefined;
  /** Configuration of the topic when it has to be created. */
  readonly topicConfig: Readonly<Record<string, string>>;
  readonly start: FeedStart;
  readonly onGap: GapPolicy;
  readonly onLostPosition: LostPositionPolicy;
  readonly onTopicReplaced: TopicReplacedPolicy;
  readonly onTableReplaced: TableReplacedPolicy;
  /** Where it is told how the table's columns change; `undefined`: nowhere. */
  readonly schemaChanges: MetadataTopicSettings | undefined;
  /** Where it is told which events a version has; `undefined`: nowhere. */
  readonly transactions: MetadataTopicSettings | undefined;
  /** How a version that empties the table is told: by the deletes of its rows, or as one event. */
  readonly truncate: 'rows' | 'event';
  readonly compression: 'none' | 'lz4' | 'gzip';
  readonly maxTransactionRows: number;
  readonly maxTransactionBytes: number;
  /** Rows of a snapshot that are read for the feed in a second, at most; `undefined`: as fast as it goes. */
  readonly snapshotMaxRowsPerSecond: number | undefined;
  /** How often a feed at rest says so; `undefined`: never. */
  readonly heartbeatIntervalMs: number | undefined;
  readonly heartbeatTopic: string;
  readonly pollIntervalMs: number;
  /** A delete of a keyed row is followed by a record with a null value, so that compacted topics forget the key. */
  readonly tombstones: boolean;
}

/** What a feed takes over when it says nothing itself. */
export interface FeedDefaults
  extends Omit<FeedSettings, 'table' | 'name' | 'topic' | 'keyColumns' | 'select' | 'where' | 'positionsTopic' | 'heartbeatTopic'> {
  readonly topicPrefix: string;
  /** `undefined`: `<topicPrefix>._positions`. */
  readonly positionsTopic: string | undefined;
  /** `undefined`: `<topicPrefix>._heartbeats`. */
  readonly heartbeatTopic: string | undefined;
  readonly sessionTimeoutMs: number;
}

type Partially<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** A feed as the file has it; completed by `completeFeed`. */
export interface FeedEntry
  extends Partially<Omit<FeedSettings, 'table' | 'keyColumns' | 'select' | 'positionsTopic' | 'heartbeatTopic' | 'records'>> {
  readonly records: PartialRecords;
  readonly table: string;
  readonly keyColumns: readonly string[];
  readonly select: readonly string[];
}

const versionStart = z.strictObject({
  version: integerField({ description: 'First version to publish.', min: 0, max: Number.MAX_SAFE_INTEGER }),
});

const start = (fallback: FeedStart['kind'] | undefined): z.ZodType<FeedStart> => {
  const field = z
    .union([z.enum(['snapshot', 'earliest']), versionStart], { error: 'expected snapshot, earliest or {version: <number>}' })
    .transform((raw): FeedStart => (typeof raw === 'string' ? { kind: raw } : { kind: 'version', version: raw.version }));
  const description =
    'Where a feed without a stored position starts: `snapshot` publishes the rows of the newest version, then changes; `earliest` the changes of every version there is; `{version: n}` the changes from version n on.';
  return fallback === undefined ? field.meta({ description }) : field.prefault('snapshot').meta({ description, default: fallback });
};

const topicName = (description: string): z.ZodType<string> =>
  textField({ description, maxLength: 249, pattern: topicNamePattern, patternHint: topicNameHint });

/** The settings a feed and the defaults share; without defaults where a feed leaves them out. */
function sharedFields(withDefaults: boolean) {
  const or = <T>(value: T): { readonly default?: T } => (withDefaults ? { default: value } : {});
  return {
    envelope: choiceField(['debezium', 'flat', 'after', 'cloudevents'], {
      description:
        'Shape of the records: `debezium` has before, after and source; `flat` is the row with `_change_type`, `_commit_version`, `_commit_timestamp`; `after` is the row as it is now, a delete a record with a null value (an upsert stream; needs `keyColumns`); `cloudevents` is a CloudEvent 1.0 with before and after as its data.',
      ...or('debezium' as const),
    }),
    schemas: booleanField({
      description:
        'Each key and value comes with its schema (`schema`, `payload`), as Kafka Connect’s JsonConverter has them with `schemas.enable`. Not with `cloudevents`.',
      ...or(false),
    }),
    partitions: integerField({ description: 'Partitions of the feed’s topic when it has to be created.', ...or(1), min: 1, max: 10_000 }),
    topicConfig: textMapField({
      description: 'Kafka configuration of the topic when it has to be created, such as `cleanup.policy`.',
      ...or({}),
    }),
    start: start(withDefaults ? 'snapshot' : undefined),
    onGap: choiceField(['fail', 'resnapshot', 'skip'], {
      description:
        'When versions the feed still needs are gone: `fail` stops it in state CDF_GAP, `resnapshot` publishes the newest version as a snapshot, `skip` goes on at the oldest version there is.',
      ...or('fail' as const),
    }),
    onLostPosition: choiceField(['fail', 'recover', 'resnapshot'], {
      description:
        'When the feed’s topic was published to and the positions topic has no position: `fail` stops the feed in state lost, `recover` finds the position in the headers of the topic’s last records (and stops where they do not tell), `resnapshot` publishes the newest version as a snapshot.',
      ...or('fail' as const),
    }),
    onTopicReplaced: choiceField(['fail', 'resnapshot', 'continue'], {
      description:
        'When the feed’s topic was deleted (and made anew): `fail` stops the feed in state replaced, `resnapshot` publishes the newest version as a snapshot into the new topic, `continue` publishes there what comes after the position.',
      ...or('fail' as const),
    }),
    onTableReplaced: choiceField(['fail', 'resnapshot', 'continue'], {
      description:
        'When the table was dropped and made anew, or replaced by another one, also of another format: `fail` stops the feed in state table-replaced, `resnapshot` publishes the rows of the new table as a snapshot, and then its changes, `continue` publishes what the replacement changed, where the log of the table goes on (`CREATE OR REPLACE`).',
      ...or('fail' as const),
    }),
    truncate: choiceField(['rows', 'event'], {
      description:
        'How a version that empties the table (`DELETE` without a condition, `TRUNCATE`, `INSERT OVERWRITE`) is told: by a delete for each `rows`, or as one `event` with `op` t, which has no key. The latter is for envelopes `debezium` and `cloudevents`, and topics of one partition that are not compacted.',
      ...or('rows' as const),
    }),
    compression: choiceField(['none', 'lz4', 'gzip'], {
      description:
        'Compression of the records. Every Kafka client reads `none` and `gzip`; `lz4` costs half of gzip’s processor time for a third more bytes, and consumers without that codec (kafkajs as it is installed) fail on it.',
      ...or('gzip' as const),
    }),
    maxTransactionRows: integerField({
      description: 'Rows of one Kafka transaction.',
      ...or(50_000),
      min: 1,
      max: 10_000_000,
      unit: 'rows',
    }),
    maxTransactionBytes: byteSizeField({
      description: 'Encoded bytes of one Kafka transaction.',
      ...or('16MiB'),
      min: '64KiB',
      max: '1GiB',
    }),
    pollInterval: durationField({ description: 'Longest wait before looking for a further version.', ...or('1s'), min: '10ms', max: '1h' }),
    tombstones: booleanField({ description: 'Follow each delete of a keyed row by a record with a null value.', ...or(true) }),
  };
}

const metadataTopic = (description: string, topic: string): z.ZodType<MetadataTopicSettings | undefined> =>
  z
    .strictObject({ topic: topicName(topic) })
    .optional()
    .meta({ description });

/** Topics beside a feed's own; absent where nothing is to be told. */
const metadataTopics = (): {
  readonly schemaChanges: ReturnType<typeof metadataTopic>;
  readonly transactions: ReturnType<typeof metadataTopic>;
} => ({
  schemaChanges: metadataTopic(
    'Tells how the columns that the feed publishes change, as Debezium’s schema change topics do. Default: not told.',
    'Topic of the schema changes; of one partition. Feeds may share it.',
  ),
  transactions: metadataTopic(
    'Tells where each version begins and ends and how many events it has, as Debezium’s `provide.transaction.metadata` does, and numbers the events of envelope `debezium`. Default: not told.',
    'Topic of the begins and ends; of one partition. Feeds of different tables may share it.',
  ),
});

const snapshotRate = (): z.ZodType<number | undefined> =>
  integerField({
    description:
      'Rows of a snapshot that are read for the feed in a second, at most. Changes are not held back. Default: as fast as it goes.',
    min: 1,
    max: 1_000_000_000,
    unit: 'rows',
  }).optional();

const heartbeatInterval = (): z.ZodType<number | undefined> =>
  durationField({
    description:
      'How often a feed that has published everything says so, with the version, in the topic of heartbeats: consumers of a quiet table learn that it is quiet. Default: never.',
    min: '100ms',
    max: '1d',
  }).optional();

const replicationFactor = (): z.ZodType<number | undefined> =>
  integerField({ description: 'Replicas of the topic when it has to be created. Default: the broker’s.', min: 1, max: 32 }).optional();

export const feedDefaults: z.ZodType<FeedDefaults> = z
  .strictObject({
    topicPrefix: topicName('A feed’s topic is `<topicPrefix>.<table>` unless it names one.').prefault('cdf').meta({ default: 'cdf' }),
    positionsTopic: topicName('Compacted topic that holds the positions of the feeds. Default: `<topicPrefix>._positions`.').optional(),
    replicationFactor: replicationFactor(),
    snapshotMaxRowsPerSecond: snapshotRate(),
    ...metadataTopics(),
    heartbeatInterval: heartbeatInterval(),
    heartbeatTopic: topicName('Compacted topic of the heartbeats of all feeds. Default: `<topicPrefix>._heartbeats`.').optional(),
    sessionTimeout: durationField({
      description:
        'How long a replica that is not heard keeps its feeds; then another one takes over. The broker bounds it (`group.min.session.timeout.ms`, 6s).',
      default: '10s',
      min: '1s',
      max: '30m',
    }),
    ...recordFields,
    ...sharedFields(true),
  })
  .transform((all) => {
    const [records, { pollInterval, sessionTimeout, heartbeatInterval: heartbeatIntervalMs, ...rest }] = takeRecords(all);
    const { positionsTopic, heartbeatTopic, replicationFactor: replicas, snapshotMaxRowsPerSecond, ...same } = rest;
    return {
      ...same,
      records: completeRecords(records, plainRecords),
      positionsTopic,
      heartbeatTopic,
      heartbeatIntervalMs,
      replicationFactor: replicas,
      snapshotMaxRowsPerSecond,
      pollIntervalMs: pollInterval,
      sessionTimeoutMs: sessionTimeout,
    };
  });

const optionalFields = z.strictObject(sharedFields(false)).partial();

const feed: z.ZodType<FeedEntry> = z
  .strictObject({
    table: textField({ description: 'Table whose changes are published; a name from `tables`.', maxLength: 255 }),
    name: topicName(
      'Name of the feed, which its position is stored under: it tells several feeds of one table apart and stays when the topic changes. Default: the topic.',
    ).optional(),
    topic: topicName(
      'Topic to publish to. Default: `<topicPrefix>.<table>`, of a feed with a name `<topicPrefix>.<table>.<name>`.',
    ).optional(),
    keyColumns: textListField({
      description: 'Columns that identify a row; they become the record key and choose the partition. Empty: no key.',
      default: [],
      maxItems: maxKeyColumns,
    }),
    select: textListField({
      description: 'Columns that are published, those of the key among them; the others are not even read. Empty: all.',
      default: [],
      maxItems: maxSelectedColumns,
    }),
    where: textField({
      description:
        "Condition in SQL over the table’s columns, such as `country = 'NL' AND amount > 100`; only rows of which it is true are published, null counts as no. An update that brings a row in is an insert (`c`), one that takes it out a delete (`d`).",
      maxLength: maxConditionLength,
    }).optional(),
    replicationFactor: replicationFactor(),
    snapshotMaxRowsPerSecond: snapshotRate(),
    ...metadataTopics(),
    heartbeatInterval: heartbeatInterval(),
    ...recordFields,
    ...optionalFields.shape,
  })
  .transform((all) => {
    const [records, { pollInterval, heartbeatInterval: heartbeatIntervalMs, ...same }] = takeRecords(all);
    return { ...same, records, heartbeatIntervalMs, pollIntervalMs: pollInterval };
  });

export const feedList: z.ZodType<readonly FeedEntry[]> = z
  .array(feed)
  .max(maxFeeds)
  .prefault([])
  .meta({ description: 'Change feeds: every row change of a table, to a topic, exactly once.', default: [], maxItems: maxFeeds });

/** The feed with everything it leaves out taken from the defaults. */
export function completeFeed(entry: FeedEntry, defaults: FeedDefaults): FeedSettings {
  const topic = entry.topic ?? [defaults.topicPrefix, entry.table, ...(entry.name === undefined ? [] : [entry.name])].join('.');
  return {
    table: entry.table,
    name: entry.name ?? topic,
    keyColumns: entry.keyColumns,
    select: entry.select,
    where: entry.where,
    topic,
    positionsTopic: defaults.positionsTopic ?? `${defaults.topicPrefix}._positions`,
    envelope: entry.envelope ?? defaults.envelope,
    records: completeRecords(entry.records, defaults.records),
    schemas: entry.schemas ?? defaults.schemas,
    partitions: entry.partitions ?? defaults.partitions,
    replicationFactor: entry.replicationFactor ?? defaults.replicationFactor,
    topicConfig: entry.topicConfig ?? defaults.topicConfig,
    start: entry.start ?? defaults.start,
    onGap: entry.onGap ?? defaults.onGap,
    onLostPosition: entry.onLostPosition ?? defaults.onLostPosition,
    onTopicReplaced: entry.onTopicReplaced ?? defaults.onTopicReplaced,
    onTableReplaced: entry.onTableReplaced ?? defaults.onTableReplaced,
    schemaChanges: entry.schemaChanges ?? defaults.schemaChanges,
    transactions: entry.transactions ?? defaults.transactions,
    truncate: entry.truncate ?? defaults.truncate,
    compression: entry.compression ?? defaults.compression,
    maxTransactionRows: entry.maxTransactionRows ?? defaults.maxTransactionRows,
    maxTransactionBytes: entry.maxTransactionBytes ?? defaults.maxTransactionBytes,
    heartbeatIntervalMs: entry.heartbeatIntervalMs ?? defaults.heartbeatIntervalMs,
    heartbeatTopic: defaults.heartbeatTopic ?? `${defaults.topicPrefix}._heartbeats`,
    snapshotMaxRowsPerSecond: entry.snapshotMaxRowsPerSecond ?? defaults.snapshotMaxRowsPerSecond,
    pollIntervalMs: entry.pollIntervalMs ?? defaults.pollIntervalMs,
    tombstones: entry.tombstones ?? defaults.tombstones,
  };
}
