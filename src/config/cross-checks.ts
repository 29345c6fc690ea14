import { isServiceError } from '../base/errors.ts';
import { nearestName } from '../base/nearest-name.ts';
import { FeedFilter } from '../cdf/feed-filter.ts';
import { mayMake, mayMeet } from '../ingest/divide/made-name.ts';
import { hasRecordTypes } from '../ingest/divide/record-types.ts';
import { isLetterRoute, sharedPlace, tablePlace } from '../ingest/settings.ts';
import { topicNameHint, topicNamePattern } from '../kafka/topic-name.ts';
import type { StructType } from '../schema/types.ts';
import { isBelow, plainLocation } from '../storage/allowed-locations.ts';
import { traitsOf } from '../table/formats.ts';
import type { ConfigIssue } from './config-issues.ts';
import type { ConfigPath } from './config-node.ts';
import { feedTopicIssues } from './feed-topic-checks.ts';
import { keyedIssues } from './keyed-checks.ts';
import type { Config } from './settings.ts';

/** What can only be seen by looking at several settings together. */
export function crossChecks(config: Config): readonly ConfigIssue[] {
  const taken = takenTopics(config);
  return [
    ...catalogIssues(config),
    ...duplicateTables(config),
    ...twinIssues(config),
    ...routeIssues(config),
    ...templateIssues(config),
    ...letterTableIssues(config),
    ...keyedIssues(config),
    ...feedIssues(config, taken),
    ...feedTopicIssues(config, taken),
    ...topicIssues(config),
    ...limitIssues(config),
  ];
}

function catalogIssues({ catalogs, tables }: Config): readonly ConfigIssue[] {
  const doubles = catalogs.flatMap(({ name }, index) =>
    catalogs.findIndex((other) => other.name === name) < index
      ? [issue(['catalogs', index, 'name'], `a second catalog is called "${name}"`)]
      : [],
  );
  const unknown = tables.flatMap(({ inCatalog }, index) =>
    inCatalog === undefined || catalogs.some(({ name }) => name === inCatalog.catalog)
      ? []
      : [issue(['tables', index, 'catalog'], `no catalog is called "${inCatalog.catalog}"`)],
  );
  return [...doubles, ...unknown];
}

function duplicateTables({ tables }: Config): readonly ConfigIssue[] {
  return tables.flatMap(({ name, location, tombstonesOf }, index) => {
    const place = (setting: string): ConfigPath =>
      tombstonesOf === undefined
        ? ['tables', index, setting]
        : ['tables', tables.findIndex((other) => other.name === tombstonesOf), 'tombstoneTable'];
    return [
      ...(tables.findIndex((other) => other.name === name) < index ? [issue(place('name'), `a second table is called "${name}"`)] : []),
      ...(tables.findIndex((other) => other.location === location) < index
        ? [issue(place('path'), `a second table lies at ${location}`)]
        : []),
    ];
  });
}

function twinIssues({ tables, ingest }: Config): readonly ConfigIssue[] {
  const likes = new Set(ingest.routes.flatMap(({ divided }) => divided?.spec.template?.like ?? []));
  return tables.flatMap(({ name, twinOf, location, inCatalog }, index) => {
    if (twinOf === undefined) return [];
    const path = ['tables', index, 'twinOf'];
    const leader = tables.find((table) => table.name === twinOf);
    if (leader === undefined) return [issue(path, noTable(twinOf, tables))];
    const routed = ingest.routes.some(({ table }) => table === name);
    const [own, theirs] = [plainLocation(location), plainLocation(leader.location)];
    const nested = inCatalog === undefined && (isBelow(own, theirs) || isBelow(theirs, own));
    return [
      ...(traitsOf[leader.format].leadsTwins ? [] : [issue(path, `"${twinOf}" has format ${leader.format}, whose tables have no twins`)]),
      ...(leader.keyed === undefined
        ? []
        : [issue(path, `"${twinOf}" is of mode upsert, whose old rows are marked in their files; such a table has no twin`)]),
      ...(tables.findIndex((table) => table.twinOf === twinOf) < index ? [issue(path, `"${twinOf}" has a twin already`)] : []),
      ...(likes.has(name) || likes.has(twinOf)
        ? [issue(path, 'tables that a template makes have no twins: the table that they are made like neither is one nor has one')]
        : []),
      ...(routed ? [issue(path, `table "${name}" has a route; a twin follows its table and takes no records itself`)] : []),
      ...(nested ? [issue(path, 'one of the two tables lies below the other; give each a directory of its own')] : []),
    ];
  });
}

function routeIssues({ ingest, tables, positionsTopic, schemaRegistry }: Config): readonly ConfigIssue[] {
  const { routes, deadLetters } = ingest;
  return routes.flatMap((route, index) => {
    if (isLetterRoute(route)) return [];
    const path = ['ingest', ...tablePlace(route)];
    const shared = ['ingest', ...sharedPlace(route)];
    const found: ConfigIssue[] = [];
    if (!tables.some(({ name }) => name === route.table)) found.push(issue(path, noTable(route.table, tables)));
    const of = tables.find(({ name }) => name === route.table)?.tombstonesOf;
    if (of !== undefined) found.push(issue(path, `"${route.table}" remembers the deleted keys of "${of}" and takes no records itself`));
    if (routes.findIndex(({ table }) => table === route.table) < index) {
      found.push(issue(path, `table "${route.table}" has a route already; list all its topics there`));
    }
    // Once for all tables of a divided route.
    if ((route.divided?.index ?? 0) > 0) return found;
    for (const part of ['value', 'key'] as const) {
      const encoding = route[part];
      if (encoding !== undefined && 'schemas' in encoding && encoding.schemas === 'registry' && schemaRegistry === undefined)
        found.push(issue([...shared, part], 'needs the registry that has the schemas; set schemaRegistry.url, or give the schema here'));
    }
    if (route.divided?.spec.key.kind === 'record-type' && !hasRecordTypes(route.value))
      found.push(issue([...shared, 'divide', 'by'], 'values of this encoding name no schema, so they have no type'));
    if (new Set(route.topics).size < route.topics.length) found.push(issue([...shared, 'topics'], 'names a topic twice'));
    for (const topic of route.topics) {
      if (topic === deadLetters.topic) found.push(issue([...shared, 'topics'], `"${topic}" is the dead-letter topic`));
      if (topic === deadLetters.replayTopic) found.push(issue([...shared, 'topics'], `"${topic}" is the topic of replayed dead letters`));
      if (topic === positionsTopic) found.push(issue([...shared, 'topics'], `"${topic}" is the topic of the feeds’ positions`));
    }
    return found;
  });
}

/** Tables that two templates make must not have one name. */
function templateIssues({ ingest }: Config): readonly ConfigIssue[] {
  const templates = ingest.routes.flatMap(({ divided, at }) =>
    divided?.spec.template === undefined || at.at(-1) !== 'template' ? [] : [{ ...divided.spec.template, at }],
  );
  return templates.flatMap(({ table, at }, index) => {
    const other = templates.slice(0, index).find((earlier) => mayMeet(earlier.table, table));
    return other === undefined
      ? []
      : [
          issue(
            ['ingest', ...at, 'table'],
            `may make the same names as "${other.table}" of another route; begin or end it with something else`,
          ),
        ];
  });
}

/** The route of the dead-letter table is made from its name. */
function letterTableIssues({ ingest, tables }: Config): readonly ConfigIssue[] {
  const { table } = ingest.deadLetters;
  const path = ['ingest', 'deadLetters', 'table'];
  const bare = tables.flatMap(({ name, ofLetters }, index) =>
    ofLetters && name !== table
      ? [{ code: 'CONFIG_MISSING_KEY', path: ['tables', index, 'columns'], message: 'is required' } as const]
      : [],
  );
  if (table === undefined) return bare;
  const isRouted = ingest.routes.some((route) => route.table === table && !isLetterRoute(route));
  return [
    ...bare,
    ...(tables.some(({ name }) => name === table) ? [] : [issue(path, noTable(table, tables))]),
    ...(isRouted ? [issue(path, `table "${table}" has a route, and letters are no records of it; name a table of their own`)] : []),
  ];
}

function feedIssues({ feeds, tables, ingest, schemaRegistry }: Config, taken: ReadonlyMap<string, string>): readonly ConfigIssue[] {
  return feeds.flatMap((feed, index) => {
    const path = ['feeds', index];
    const found: ConfigIssue[] = [];
    const table = tables.find(({ name }) => name === feed.table);
    if (table === undefined) found.push(issue([...path, 'table'], `${noTable(feed.table, tables)}${madeHint(ingest, feed.table)}`));
    if (feeds.findIndex(({ table: of, name }) => of === feed.table && name === feed.name) < index)
      found.push(issue([...path, 'name'], `a second feed of table "${feed.table}" is called "${feed.name}"`));
    const earlier = feeds.slice(0, index).find(({ topic }) => topic === feed.topic);
    const apart = earlier === undefined ? undefined : whyNotShared(earlier, feed);
    if (apart !== undefined) found.push(issue([...path, 'topic'], `a second feed publishes to "${feed.topic}": ${apart}`));
    if (feed.topic === feed.heartbeatTopic) found.push(issue([...path, 'topic'], `"${feed.topic}" is the topic of heartbeats`));
    if (feed.heartbeatIntervalMs !== undefined && taken.has(feed.heartbeatTopic))
      found.push(
        issue(['feedDefaults', 'heartbeatTopic'], `"${feed.heartbeatTopic}" is read by ingest or holds dead letters or positions`),
      );
    if (taken.has(feed.topic))
      found.push(issue([...path, 'topic'], `"${feed.topic}" is read by ingest or holds dead letters or positions`));
    if (table !== undefined)
      found.push(...selectIssues(feed, table.definition.schema).map((problem) => issue([...path, 'select'], problem)));
    if (table !== undefined && feed.where !== undefined)
      found.push(...whereIssues(feed.where, table.definition.schema, [...path, 'where']));
    found.push(...envelopeIssues(feed, schemaRegistry !== undefined).map(([setting, message]) => issue([...path, setting], message)));
    for (const column of table === undefined ? [] : feed.keyColumns) {
      const type = table?.definition.schema.fields.find(({ name }) => name === column)?.type;
      if (type === undefined) found.push(issue([...path, 'keyColumns'], `table "${feed.table}" has no column "${column}"`));
      else if (['struct', 'list', 'map'].includes(type.kind))
        found.push(issue([...path, 'keyColumns'], `"${column}" has type ${type.kind}, which no key can have`));
    }
    return found;
  });
}

/** What topics hold that are not of feeds. */
function takenTopics({ ingest, positionsTopic }: Config): ReadonlyMap<string, string> {
  const { topic, replayTopic } = ingest.deadLetters;
  return new Map([
    ...ingest.routes.flatMap(({ topics }) => topics.map((read) => [read, 'is read by ingest'] as const)),
    [topic, 'is the dead-letter topic'] as const,
    [replayTopic, 'is the topic of replayed dead letters'] as const,
    [positionsTopic, 'is the topic of the feeds’ positions'] as const,
  ]);
}

/** What keeps consumers from telling the records of two feeds in one topic apart, or lets those of one take the place of the other's. */
function whyNotShared(one: Config['feeds'][number], other: Config['feeds'][number]): string | undefined {
  if (one.table === other.table) return `both are of table "${one.table}", and nothing tells whose a record is; name another topic`;
  if (one.envelope !== other.envelope) return `their envelopes differ, ${one.envelope} and ${other.envelope}`;
  if (one.envelope === 'after') return 'in envelope after a key has one row, whatever table it is of';
  if ([one, other].some(hasSchemas)) return 'their schemas would have one name';
  const compacted = [one, other].some(({ topicConfig }) => topicConfig['cleanup.policy']?.includes('compact') === true);
  return compacted ? 'it is compacted, and rows of two tables may have one key' : undefined;
}

function hasSchemas({ schemas, records: { encoding, keyEncoding = encoding } }: Config['feeds'][number]): boolean {
  return schemas || encoding !== 'json' || keyEncoding !== 'json';
}

function whereIssues(where: string, schema: StructType, path: ConfigPath): readonly ConfigIssue[] {
  try {
    FeedFilter.of(where, schema);
    return [];
  } catch (error) {
    if (!isServiceError(error, 'invalid')) throw error;
    return [issue(path, error.message)];
  }
}

function selectIssues({ table, select, keyColumns }: Config['feeds'][number], { fields }: StructType): readonly string[] {
  if (select.length === 0) return [];
  const unknown = select.filter((column) => !fields.some(({ name }) => name === column));
  const left = keyColumns.filter((column) => !select.includes(column));
  return [
    ...unknown.map((column) => `table "${table}" has no column "${column}"`),
    ...left.map((column) => `leaves out "${column}", a column of the key`),
  ];
}

function envelopeIssues(
  { envelope, records, schemas, keyColumns, tombstones }: Config['feeds'][number],
  hasRegistry: boolean,
): readonly (readonly [string, string])[] {
  const found: (readonly [string, string])[] = [];
  if (envelope === 'after' && keyColumns.length === 0)
    found.push(['keyColumns', 'envelope after says by the key what is deleted: name the columns']);
  if (envelope === 'after' && !tombstones)
    found.push(['tombstones', 'a delete in envelope after is a record with a null value; leave it out']);
  const { cloudEventMode, encoding, keyEncoding = encoding } = records;
  const isStructured = envelope === 'cloudevents' && cloudEventMode === 'structured';
  if (isStructured && schemas) found.push(['schemas', 'a CloudEvent has none; leave it out, or take another envelope']);
  if (isStructured && encoding !== 'json')
    found.push(['encoding', `a CloudEvent in structured mode is JSON; set cloudEventMode: binary to have its data in ${encoding}`]);
  if (schemas && encoding !== 'json') found.push(['schemas', `the schemas of encoding ${encoding} are in the registry; leave it out`]);
  const registered = [encoding, keyEncoding].find((each) => each !== 'json');
  if (registered !== undefined && !hasRegistry)
    found.push(['encoding', `${registered} needs the registry that has the schemas; set schemaRegistry.url`]);
  return found;
}

/** Feeds are of listed tables: what is made later has rows before anybody could have asked for their changes. */
function noTable(name: string, tables: Config['tables']): string {
  const nearest = nearestName(
    name,
    tables.map((table) => table.name),
  );
  return `no table is called "${name}"${nearest === undefined ? '' : `; did you mean "${nearest}"?`}`;
}

function madeHint({ routes }: Config['ingest'], name: string): string {
  const templates = routes.flatMap(({ divided }) => divided?.spec.template ?? []);
  return templates.some(({ table }) => mayMake(table, name))
    ? '; tables that a template makes have no feeds: list it in tables, and in divide.tables'
    : '';
}

/** Names made of a prefix and a table's name may be longer than each of them. */
function topicIssues({ feeds, positionsTopic, ingest }: Config): readonly ConfigIssue[] {
  const made = [
    [['ingest', 'deadLetters', 'topic'], ingest.deadLetters.topic],
    [['ingest', 'deadLetters', 'replayTopic'], ingest.deadLetters.replayTopic],
    [['feedDefaults', 'topicPrefix'], positionsTopic],
    ...feeds.map(({ topic }, index) => [['feeds', index, 'topic'], topic] as const),
  ] as const;
  const names = made.flatMap(([path, topic]) => (topicNamePattern.test(topic) ? [] : [issue(path, `"${topic}" ${topicNameHint}`)]));
  const { topic, replayTopic } = ingest.deadLetters;
  if (replayTopic !== topic && replayTopic !== positionsTopic) return names;
  const taken = replayTopic === topic ? 'the dead-letter topic' : 'the topic of the feeds’ positions';
  return [...names, issue(['ingest', 'deadLetters', 'replayTopic'], `"${replayTopic}" is ${taken}`)];
}

function limitIssues({ ingest, commit }: Config): readonly ConfigIssue[] {
  const found: ConfigIssue[] = [];
  if (ingest.maxBatchBytes > ingest.maxBufferBytes) {
    found.push(
      issue(
        ['ingest', 'maxBatchBytes'],
        `${ingest.maxBatchBytes} bytes exceed ingest.maxBufferBytes (${ingest.maxBufferBytes}): no batch would ever fill`,
      ),
    );
  }
  if (commit.backoff.initialMs > commit.backoff.maxMs) found.push(issue(['commit', 'backoff', 'initial'], 'exceeds commit.backoff.max'));
  return found;
}

function issue(path: ConfigPath, message: string): ConfigIssue {
  return { code: 'CONFIG_INVALID', path, message };
}
