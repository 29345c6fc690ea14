import { isJsonObject, type JsonValue, parseJson, printJson } from '../base/bigint-json.ts';
import type { BatchRange } from './sealed-batch.ts';
import type { SourceRange } from './source-offsets.ts';

/** The range of a commit in one partition. */
export interface AccountedRange extends SourceRange {
  /**
   * The mark that was left behind by an operator's decision (`ingest.onOffsetDiscontinuity`): what lies between it and `from` was passed over
   * or is read again knowingly. Absent: the range begins at the mark, or is the partition's first.
   */
  readonly after?: bigint | undefined;
  /** It is of the replay topic: its rows have the offsets that their records had at first. */
  readonly replay?: boolean | undefined;
}

/**
 * What a commit says about itself in the table's history, so that an audit needs nothing but the table:
 * `records = recordsWithRows + deadLettered + filtered`, and the ranges of a partition follow each other without gap or overlap.
 */
export interface CommitAccounting {
  readonly pipeline: string;
  readonly ranges: readonly AccountedRange[];
  /** Records read from the source. */
  readonly records: number;
  readonly rows: number;
  /** The rows took the place of those with the same keys. Absent: they were added to the others. */
  readonly keyed?: boolean | undefined;
  /** Records that the rows are of, or that the keys are of: then there may be fewer rows. Absent: as many as rows. */
  readonly recordsWithRows?: number | undefined;
  readonly deadLettered: number;
  readonly filtered: number;
  /** Records of replay ranges that may be among the rows. Absent: none. */
  readonly replayed?: number | undefined;
  /**
   * The version has every record that readers of committed records could see before this time, in milliseconds since 1970, in every partition of the
   * topics it is read from. Absent: the writer knows of no such time.
   */
  readonly validThrough?: number | undefined;
}

const accountingKey = 'tidewater';

/** A batch's range as its commit accounts for it. */
export function accountedRange({ topic, partition, from, until, expectedMark }: BatchRange, replayTopic?: string): AccountedRange {
  const decided = expectedMark !== undefined && expectedMark !== from;
  const range = topic === replayTopic ? { topic, partition, from, until, replay: true } : { topic, partition, from, until };
  return decided ? { ...range, after: expectedMark } : range;
}

export function printAccounting(accounting: CommitAccounting): string {
  const ranges = accounting.ranges.map((range) => ({
    topic: range.topic,
    partition: range.partition,
    from: range.from.toString(),
    until: range.until.toString(),
    ...(range.after === undefined ? {} : { after: range.after.toString() }),
    ...(range.replay === true ? { replay: true } : {}),
  }));
  return printJson({ [accountingKey]: { ...accounting, ranges } });
}

/** The accounting in a version's user metadata; `undefined` for versions of other writers. */
export function parseAccounting(userMetadata: string | undefined): CommitAccounting | undefined {
  if (userMetadata === undefined || !userMetadata.startsWith(`{"${accountingKey}":`)) return undefined;
  const root = parseJson(userMetadata, 'user metadata');
  const body = isJsonObject(root) ? root[accountingKey] : undefined;
  if (!isJsonObject(body)) return undefined;
  const ranges = Array.isArray(body['ranges']) ? body['ranges'].map(parseRange) : [];
  if (ranges.includes(undefined) || typeof body['pipeline'] !== 'string') return undefined;
  const { recordsWithRows, replayed, validThrough } = body;
  return {
    pipeline: body['pipeline'],
    ranges: ranges.filter((range) => range !== undefined),
    records: count(body['records']),
    rows: count(body['rows']),
    ...(typeof recordsWithRows === 'number' ? { recordsWithRows } : {}),
    ...(typeof replayed === 'number' ? { replayed } : {}),
    ...(typeof validThrough === 'number' ? { validThrough } : {}),
    ...(body['keyed'] === true ? { keyed: true } : {}),
    deadLettered: count(body['deadLettered']),
    filtered: count(body['filtered']),
  };
}

function parseRange(value: JsonValue): AccountedRange | undefined {
  if (!isJsonObject(value)) return undefined;
  const { topic, partition, from, until, after } = value;
  if (typeof topic !== 'string' || typeof partition !== 'number' || typeof from !== 'string' || typeof until !== 'string') return undefined;
  const isReplay = value['replay'] === true;
  const range = { topic, partition, from: BigInt(from), until: BigInt(until), ...(isReplay ? { replay: true } : {}) };
  return typeof after === 'string' ? { ...range, after: BigInt(after) } : range;
}

function count(value: JsonValue | undefined): number {
  return typeof value === 'number' ? value : 0;
}
