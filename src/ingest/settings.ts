import { z } from 'zod';
import { byteSizeField, choiceField, durationField, integerField, textField, textListField } from '../base/setting-fields.ts';
import { sourceTopicHint, topicNameHint, topicNamePattern } from '../kafka/topic-name.ts';
import type { DivisionOfTable, DivisionSpec } from '../protocol/division.ts';
import type { PayloadEncoding, ValueEncoding } from '../protocol/payload-encoding.ts';
import { defaultMaxDepth, highestMaxDepth } from './decode/nesting-depth.ts';
import { type DivisionEntry, divisionSettings, withKeyedDivisions } from './divide/division-settings.ts';
import { payloadSettings, valueSettings } from './payload-settings.ts';
import type { DiscontinuityPolicy, StartFrom } from './start-position.ts';
import { type TransformSettings, transformShape } from './transform/transform-settings.ts';
import { patternProblem } from './whole-pattern.ts';

const maxRoutes = 256;
const maxTopicsPerRoute = 256;

/** `dead-letter`: to the dead-letter topic; `suspend`: stop the table at the first; `skip`: count and drop. */
export type RejectPolicy = 'dead-letter' | 'suspend' | 'skip';

/** `truncate`: the dead letter is written cut; `suspend`: stop the table at it. */
export type OversizePolicy = 'truncate' | 'suspend';

/** The topics whose records become rows of one table. */
export interface RouteSettings extends TransformSettings {
  readonly topics: readonly string[];
  /** Topics whose whole names match are read beside them, as they come. */
  readonly topicPattern?: string | undefined;
  readonly table: string;
  readonly value: ValueEncoding;
  /** Of keys whose members fill columns, or that are one value in an encoding. */
  readonly key: PayloadEncoding | undefined;
  /** Present where the records of the topics are divided: the table gets the part of this number. */
  readonly divided?: DivisionOfTable | undefined;
  /** The key that a template made the table for; no file has such a route. */
  readonly madeFor?: string | undefined;
  /** Where the file has it, below `ingest`. */
  readonly at: readonly (string | number)[];
}

/** Where the file has the name of its table, below `ingest`. */
export function tablePlace({ at }: Pick<RouteSettings, 'at'>): RouteSettings['at'] {
  return [...at, at.at(-1) === 'template' ? 'like' : 'table'];
}

/** The group that reads for a table, or for all tables of a divided route: it has the name of the first one. */
export function consumerGroupOf(groupId: string, of: string | DivisionSpec): string {
  return `${groupId}-${typeof of === 'string' ? of : (of.parts[0]?.table ?? '')}`;
}

/** Where the file has what the parts of a divided route have in common, below `ingest`. */
export function sharedPlace({ at, divided }: Pick<RouteSettings, 'at' | 'divided'>): RouteSettings['at'] {
  return divided === undefined ? at : at.slice(0, 2);
}

/** A route as the file has it. */
interface RouteEntry extends Omit<RouteSettings, 'table' | 'divided' | 'madeFor' | 'at'> {
  readonly table?: string | undefined;
  readonly divide?: DivisionEntry | undefined;
}

/** How the records of a route become rows. */
export type RowSettings = Pick<RouteSettings, 'value' | 'key' | keyof TransformSettings>;

export interface DeadLetterSettings {
  readonly topic: string;
  /** Where letters are replayed to, and read again from. */
  readonly replayTopic: string;
  /** The table that has a row of each letter; `undefined`: none. */
  readonly table: string | undefined;
  /** Of both topics, when they have to be created. */
  readonly partitions: number;
  readonly onReject: RejectPolicy;
  readonly oversize: OversizePolicy;
}

/** From Kafka records to sealed batches. */
export interface IngestSettings {
  /** Prefix of the consumer groups, one a table, and one a divided route: `<groupId>-<table>`. */
  readonly groupId: string;
  /** Of the process; `undefined`: a part of what the machine or its container has. */
  readonly memory: number | undefined;
  readonly maxBatchRows: number;
  readonly maxBatchBytes: number;
  readonly maxBatchAgeMs: number;
  readonly maxBufferBytes: number;
  readonly maxFetchBytes: number;
  readonly maxFetchWaitMs: number;
  readonly sessionTimeoutMs: number;
  readonly workers: number;
  readonly maxUnpackedBytes: number;
  readonly maxNestingDepth: number;
  readonly onOffsetDiscontinuity: DiscontinuityPolicy;
  readonly startFrom: StartFrom;
  readonly routes: readonly RouteSettings[];
  readonly deadLetters: DeadLetterSettings;
}

/** The settings as the file has them; completed by `completeIngest`. */
export interface IngestEntry extends Omit<IngestSettings, 'groupId' | 'deadLetters'> {
  readonly groupId: string | undefined;
  readonly deadLetters: DeadLetterEntry;
}

interface DeadLetterEntry extends Omit<DeadLetterSettings, 'topic' | 'replayTopic'> {
  readonly topic: string | undefined;
  readonly replayTopic: string | undefined;
}

/** Names that the file leaves out are made from the pipeline's, and the table of the letters gets its route. */
export function completeIngest(entry: IngestEntry, pipeline: string, { keyed }: { readonly keyed: ReadonlySet<string> }): IngestSettings {
  const topic = entry.deadLetters.topic ?? `${pipeline}.dlq`;
  const { table } = entry.deadLetters;
  const letters: readonly RouteSettings[] =
    table === undefined ? [] : [{ topics: [topic], table, value: { kind: 'letter' }, key: undefined, at: ['deadLetters', 'table'] }];
  return {
    ...entry,
    routes: [...withKeyedDivisions(entry.routes, keyed), ...letters],
    groupId: entry.groupId ?? `tidewater-${pipeline}`,
    deadLetters: {
      ...entry.deadLetters,
      topic,
      replayTopic: entry.deadLetters.replayTopic ?? `${pipeline}.dlq.replay`,
    },
  };
}

/** The route of the dead-letter table, which no configuration file has. */
export function isLetterRoute({ value }: Pick<RouteSettings, 'value'>): boolean {
  return value.kind === 'letter';
}

const topicName = (description: string): z.ZodType<string> =>
  textField({ description, maxLength: 249, pattern: topicNamePattern, patternHint: topicNameHint });

const route: z.ZodType<RouteEntry> = z
  .strictObject({
    topics: textListField({
      description: 'Topics to read, by name. At least one, or a `topicPattern`.',
      default: [],
      maxItems: maxTopicsPerRoute,
      pattern: topicNamePattern,
      patternHint: sourceTopicHint,
    }),
    topicPattern: textField({
      description:
        'Regular expression that the whole name of a topic matches, as `topics.regex` of Kafka Connect: such topics are read beside `topics`, new ones within half a minute and from their beginning. Topics of the pipeline itself, and names that begin with `__`, are left out.',
      maxLength: 1_000,
    }).optional(),
    table: textField({ description: 'Table that takes their records; a name from `tables`. This or `divide`.', maxLength: 255 }).optional(),
    divide: divisionSettings.optional().meta({
      description: 'Divides the records among several tables. The topics are read once for all of them.',
    }),
    value: valueSettings.prefault({}).meta({ description: 'How the values of their records are encoded, and what they hold.' }),
    key: payloadSettings
      .optional()
      .transform((encoding) => encoding)
      .meta({ description: 'How the keys are encoded, for columns `from: key`. Without it a key is taken as it is.' }),
    ...transformShape,
  })
  .superRefine(({ topics, topicPattern, table, divide, ...transforms }, context) => {
    if ((table === undefined) === (divide === undefined))
      context.addIssue({ code: 'custom', path: [], message: 'must have one of table, and divide, which names several' });
    for (const name of ['columns', 'select', 'where', 'expect'] as const)
      if (divide !== undefined && transforms[name] !== undefined)
        context.addIssue({ code: 'custom', path: [name], message: 'is said for each table of divide, not for the route' });
    if (topics.length === 0 && topicPattern === undefined)
      context.addIssue({ code: 'custom', path: ['topics'], message: 'must name at least one topic; or set topicPattern' });
    const problem = topicPattern === undefined ? undefined : patternProblem(topicPattern);
    if (problem !== undefined) context.addIssue({ code: 'custom', path: ['topicPattern'], message: problem });
  });

/** The routes of the tables: one for each table of a divided one. */
function routesOf({ table, divide, ...route }: RouteEntry, index: number): readonly RouteSettings[] {
  const at = ['routes', index];
  if (divide === undefined) return [{ ...route, table: table ?? '', at }];
  const { template } = divide;
  const listed = divide.parts.map((part, number) => ({ ...part, at: [...at, 'divide', 'tables', number] }));
  const like =
    template === undefined
      ? []
      : [{ ...template, table: template.like, values: [], pattern: undefined, at: [...at, 'divide', 'template'] }];
  const entries = [...listed, ...like];
  const parts = entries.map(({ table: name, values, pattern }) => ({ table: name, values, pattern }));
  const spec = {
    ...{ key: divide.key, value: route.value, parts, unmatched: divide.unmatched },
    ...(template === undefined ? {} : { template: { table: template.table, like: template.like, max: template.max } }),
  };
  return entries.map(({ table: name, columns, select, where, expect, at: place }, number) => ({
    ...route,
    ...{ table: name, columns, select, where, expect },
    divided: { spec, index: number },
    at: place,
  }));
}

const deadLetters: z.ZodType<DeadLetterEntry> = z
  .strictObject({
    topic: topicName('Topic for records that do not fit their table. Default: `<pipeline>.dlq`.').optional(),
    replayTopic: topicName(
      'Topic that `tidewater dlq replay` writes letters to, and that the tables read them from; of this pipeline alone. Default: `<pipeline>.dlq.replay`.',
    ).optional(),
    table: textField({
      description:
        'Table that gets a row of each letter in the topic; a name from `tables`, where its `columns` may be left out. Default: none.',
      maxLength: 255,
    }).optional(),
    partitions: integerField({ description: 'Partitions of either topic when it has to be created.', default: 1, min: 1, max: 10_000 }),
    onReject: choiceField(['dead-letter', 'suspend', 'skip'], {
      description:
        'What happens to a record that does not fit: `dead-letter` writes it with its reason to the topic before the commit that covers it, `suspend` stops the table there, `skip` counts and drops it.',
      default: 'dead-letter',
    }),
    oversize: choiceField(['truncate', 'suspend'], {
      description:
        'What happens to a dead letter that the topic takes neither whole nor compressed: `truncate` writes its beginning, with size, hash and position of the whole in headers, `suspend` stops the table there.',
      default: 'truncate',
    }),
  })
  .transform(({ topic, replayTopic, table, partitions, onReject, oversize }) => ({
    topic,
    replayTopic,
    table,
    partitions,
    onReject,
    oversize,
  }));

export const ingestSettings: z.ZodType<IngestEntry> = z
  .strictObject({
    groupId: textField({
      description:
        'Prefix of the consumer group names, one group a table: `<groupId>-<table>`; of a divided route that of its first table. Default: `tidewater-<pipeline>`.',
      maxLength: 200,
    }).optional(),
    memory: byteSizeField({
      description:
        'What the process takes for reading, decoding and writing all its tables, with its engines: the sizes below are caps within it. Default: three quarters of the container’s limit; without one a quarter of the machine’s memory.',
      min: '256MiB',
      max: '16TiB',
    }).optional(),
    maxBatchRows: integerField({
      description: 'A batch is committed when it holds so many records.',
      default: 250_000,
      min: 1,
      max: 10_000_000,
      unit: 'rows',
    }),
    maxBatchBytes: byteSizeField({
      description: 'A batch is committed when it holds so many bytes as fetched (compressed as the producer sent them).',
      default: '32MiB',
      min: '1KiB',
      max: '1GiB',
    }),
    maxBatchAge: durationField({
      description: 'A batch is committed at this age of its oldest record, however small it is: the freshness of the table.',
      default: '1s',
      min: '10ms',
      max: '1h',
    }),
    maxBufferBytes: byteSizeField({
      description: 'Bytes a table may hold fetched and not committed; above it fetching pauses, below half of it it resumes.',
      default: '128MiB',
      min: '1MiB',
      max: '16GiB',
    }),
    maxFetchBytes: byteSizeField({ description: 'Upper bound of one fetch answer.', default: '16MiB', min: '64KiB', max: '512MiB' }),
    maxFetchWait: durationField({
      description: 'How long the broker may wait for data to answer a fetch.',
      default: '250ms',
      min: '1ms',
      max: '30s',
    }),
    sessionTimeout: durationField({
      description:
        'Silence after which the group gives this member’s partitions to others. The broker bounds it (`group.min.session.timeout.ms`, 6s).',
      default: '30s',
      min: '1s',
      max: '30m',
    }),
    workers: integerField({
      description: 'Threads that decode records and write data files.',
      default: 1,
      min: 1,
      max: 64,
      unit: 'threads',
    }),
    maxUnpackedBytes: byteSizeField({
      description:
        'What one record batch of a producer may unpack to; a larger one is a dead letter as a whole. A worker needs up to twenty-five times as much memory for a single record of this size, so a small `memory` has a lower limit: it is in the log at the start.',
      default: '64MiB',
      min: '1MiB',
      max: '256MiB',
    }),
    maxNestingDepth: integerField({
      description: 'Deepest nesting of a JSON payload; deeper ones are dead letters.',
      default: defaultMaxDepth,
      min: 1,
      max: highestMaxDepth,
    }),
    onOffsetDiscontinuity: choiceField(['fail', 'reset-to-earliest', 'reset-to-latest', 'accept'], {
      description:
        'When the table’s offsets do not fit the topic (it was deleted and created again, or records expired unread): `fail` stops the partition loudly until an operator decides, the others decide beforehand.',
      default: 'fail',
    }),
    startFrom: choiceField(['earliest', 'latest'], {
      description: 'Where a topic starts that the table has no offset of. One that a running process saw missing starts at its beginning.',
      default: 'earliest',
    }),
    routes: z
      .array(route)
      .max(maxRoutes)
      .prefault([])
      .meta({ description: 'Which topics go to which table.', default: [], maxItems: maxRoutes }),
    deadLetters: deadLetters.prefault({}).meta({ description: 'Records that do not fit their table.' }),
  })
  .transform(({ maxBatchAge, maxFetchWait, sessionTimeout, groupId, memory, routes, ...same }) => ({
    ...same,
    memory,
    routes: routes.flatMap(routesOf),
    groupId,
    maxBatchAgeMs: maxBatchAge,
    maxFetchWaitMs: maxFetchWait,
    sessionTimeoutMs: sessionTimeout,
  }));
