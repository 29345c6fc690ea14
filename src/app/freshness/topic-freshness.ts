import { type FreshnessRequest, isPending, type TableFreshness, type TopicFreshness } from '../../admin/freshness.ts';
import { assertNever } from '../../base/assert.ts';
import { isServiceError } from '../../base/errors.ts';
import { type OffsetTrace, type SourceOffset, traceOffset } from '../../commit/offset-trace.ts';
import { isLetterRoute } from '../../ingest/settings.ts';
import type { Snapshot, Table } from '../../table/table.ts';
import type { Components } from '../components.ts';
import { isRowByRoute } from './fate-by-route.ts';
import { type FedTable, fedTables } from './fed-tables.ts';
import { findLetter } from './find-letter.ts';
import { tableOfRecord } from './part-of-record.ts';
import { type FreshnessKafka, type SourceFacts, sourceFacts } from './source-facts.ts';

export interface FreshnessParts {
  readonly components: Components;
  /** `undefined`: nobody is asked, the tables alone answer. */
  readonly kafka: FreshnessKafka | undefined;
}

/**
 * Where a record of a topic is, in every table that the topic feeds. The answer is what the tables' commits say; the broker is asked which incarnation of
 * the topic is meant, how far it goes, and for what commits do not say of a single record: its letter, and of a divided route its table.
 *
 * @throws ServiceError `FRESHNESS_NOT_FED` (not-found); what opening a table throws.
 */
export async function topicFreshness(parts: FreshnessParts, request: FreshnessRequest, signal?: AbortSignal): Promise<TopicFreshness> {
  const { topic, partition, offset, table } = request;
  const { components, kafka } = parts;
  const fed = fedTables(components, topic, table);
  const at = { topic, partition, offset };
  const facts = kafka === undefined ? undefined : await sourceFacts(kafka, at, { clock: components.clock, signal });
  const tables = await Promise.all(fed.map((each) => tableFreshness(parts, each, { at, facts, signal })));
  return { ...at, endOffset: facts?.endOffset, tables };
}

const pollMs = 200;

/**
 * As `topicFreshness`, when every table has the record or `timeoutMs` is over; what is known of a table does not change. Looks five times a second.
 */
export async function untilFresh(
  parts: FreshnessParts,
  request: FreshnessRequest,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal?: AbortSignal | undefined },
): Promise<TopicFreshness> {
  const { clock } = parts.components;
  const deadlineMs = clock.monotonicMs() + timeoutMs;
  let found = await topicFreshness(parts, request, signal);
  // Who did not answer once is not waited for each time.
  const kafka = found.endOffset === undefined ? undefined : parts.kafka;
  while (found.tables.some(isPending) && clock.monotonicMs() < deadlineMs) {
    await clock.sleep(Math.min(pollMs, deadlineMs - clock.monotonicMs()), signal);
    const { endOffset, tables } = await topicFreshness({ ...parts, kafka }, request, signal);
    const known = new Map(found.tables.filter((each) => !isPending(each)).map((each) => [each.table, each]));
    found = { ...found, endOffset, tables: tables.map((each) => known.get(each.table) ?? each) };
  }
  return found;
}

interface Asked {
  readonly at: SourceOffset;
  readonly facts: SourceFacts | undefined;
  readonly signal: AbortSignal | undefined;
}

async function tableFreshness(parts: FreshnessParts, fed: FedTable, asked: Asked): Promise<TableFreshness> {
  const { table } = fed;
  const opened = await newest(parts, table, asked.signal);
  if (opened === undefined) return { table, state: 'no-table', detail: 'the table is not there yet' };
  const request = { ...asked.at, pipeline: parts.components.config.pipeline, incarnation: asked.facts?.incarnation };
  const trace = await traceOffset(opened.table, opened.snapshot, request, asked.signal);
  return { table, ...(await stateOf(parts, fed, asked, trace)) };
}

async function newest(
  { components }: FreshnessParts,
  name: string,
  signal: AbortSignal | undefined,
): Promise<{ readonly table: Table; readonly snapshot: Snapshot } | undefined> {
  try {
    const table = await components.catalog.load(name, signal);
    return { table, snapshot: await table.refresh(signal) };
  } catch (error) {
    if (isServiceError(error, 'not-found')) return undefined;
    throw error;
  }
}

type Found = Omit<TableFreshness, 'table'>;

async function stateOf(parts: FreshnessParts, fed: FedTable, asked: Asked, trace: OffsetTrace): Promise<Found> {
  const { offset } = asked.at;
  switch (trace.kind) {
    case 'committed':
      return stateOfCommitted(parts, fed, asked, trace);
    case 'unaccounted':
      return { ...versionOf(trace), state: 'covered', detail: 'the version passed it without saying what it read' };
    case 'passed-over':
      return { ...versionOf(trace), state: 'passed-over', detail: 'it was not read: the table begins behind it, or somebody decided so' };
    case 'not-yet': {
      const { nextOffset } = trace;
      return { state: 'not-yet', nextOffset, behind: offset - nextOffset + 1n, detail: `the table has everything before ${nextOffset}` };
    }
    case 'forgotten': {
      const { nextOffset, oldestVersion } = trace;
      const since = oldestVersion === undefined ? 'has no versions' : `begins at version ${oldestVersion}`;
      return { state: 'forgotten', nextOffset, detail: `the table has passed it; its history ${since} and does not say when any more` };
    }
    case 'not-read': {
      const why = trace.others ? 'what the table has is of another incarnation of the topic' : 'the table has nothing of the partition yet';
      return { state: 'not-read', detail: why };
    }
    default:
      return assertNever(trace);
  }
}

type Committed = Extract<OffsetTrace, { kind: 'committed' }>;

async function stateOfCommitted(parts: FreshnessParts, fed: FedTable, asked: Asked, trace: Committed): Promise<Found> {
  const { records, rows, deadLettered, filtered } = trace.accounting;
  const { undone, perhapsUndone } = trace;
  if (undone !== undefined)
    return {
      ...versionOf(undone),
      state: 'undone',
      detail: `it came with version ${trace.version}, and the table was put back to before it`,
    };
  if (perhapsUndone !== undefined)
    return {
      ...versionOf(trace),
      state: 'covered',
      detail: `version ${perhapsUndone.version} put the table back to a time, perhaps before it`,
    };
  const found = { ...versionOf(trace), commit: { records, rows, deadLettered, filtered } };
  if (fed.route.divided !== undefined && records === 0)
    return { ...found, state: 'other-table', detail: 'nothing of the commit is for this table' };
  // Of a divided route the tables commit the same offsets, each its own records.
  const { divided } = fed.route;
  if (divided === undefined || BigInt(records) === trace.offsets) return { ...found, ...(await fateIn(parts, fed, asked, trace)) };
  const record = await asked.facts?.record();
  if (record === undefined)
    return { ...found, state: 'covered', detail: `which table of the route took it is not known: ${withoutRecord(asked)}` };
  const leader = fed.route.table;
  const target = tableOfRecord(parts.components, divided.spec, record);
  if (target === undefined) return { ...found, state: 'covered', detail: 'which table of the route took it only its schema says' };
  if (target !== leader) return { ...found, state: 'other-table', detail: `it is for table "${target}"` };
  return { ...found, ...(await fateIn(parts, fed, asked, trace)) };
}

/** What became of one of the records that a commit read for its table. */
async function fateIn(parts: FreshnessParts, { route }: FedTable, asked: Asked, trace: Committed): Promise<Found> {
  const { deadLettered, filtered, records } = trace.accounting;
  const others = deadLettered + filtered;
  if (others === 0) return { state: 'visible', detail: 'every record of the commit is in it' };
  if (filtered > 0 && filtered === records) return { state: 'filtered', detail: 'no record of the commit is a row' };
  if (deadLettered > 0) {
    const letter = await letterOf(parts, route.table, asked, trace);
    if (typeof letter === 'object')
      return { state: 'dead-letter', letter, detail: `it did not fit: ${letter.reason ?? 'no reason is told'}` };
    const missing = asked.facts === undefined ? withoutRecord(asked) : 'the dead-letter topic has lost letters or cannot be read';
    if (letter === 'unknown') return { state: 'covered', detail: `${others} of ${records} records of the commit are no rows; ${missing}` };
  }
  if (filtered === 0) return { state: 'visible', detail: 'it is none of the letters of the commit' };
  const record = await asked.facts?.record();
  const isRow = record === undefined ? undefined : await isRowByRoute(parts.components, route, record, asked.signal);
  const passed = `${filtered} of ${records} records of the commit were passed over`;
  if (isRow === undefined)
    return { state: 'covered', detail: `${passed}; whether this is one of them is not known: ${withoutRecord(asked)}` };
  return {
    state: isRow ? 'visible' : 'filtered',
    detail: `${passed}; by the route as it is now, this is ${isRow ? 'none' : 'one'} of them`,
  };
}

async function letterOf(
  { components }: FreshnessParts,
  table: string,
  { at, facts, signal }: Asked,
  { writerId }: Committed,
): Promise<Awaited<ReturnType<typeof findLetter>>> {
  const { deadLetters, routes } = components.config.ingest;
  if (facts === undefined || routes.some((route) => route.table === table && isLetterRoute(route))) return 'unknown';
  const timestampMs = (await facts.record())?.timestampMs;
  const wanted = { deadLetterTopic: deadLetters.topic, source: writerId, offset: at.offset, table, timestampMs };
  return findLetter(facts.kafka, wanted, signal);
}

function versionOf({ version, committedAt }: { readonly version: number; readonly committedAt: number }): Pick<Found, 'version' | 'since'> {
  return { version, since: new Date(committedAt).toISOString() };
}

function withoutRecord({ facts }: Asked): string {
  return facts === undefined ? 'the broker was not asked, or does not answer' : 'the topic has the record no more';
}
