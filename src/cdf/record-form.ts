import { isJsonObject, type JsonValue, printJson } from '../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import { valueEncoding } from './encoding/encodings.ts';
import { type FeedSpec, feedIdOf } from './feed-spec.ts';

/** How the settings tell a feed's records: what decides the bytes of keys, and what consumers have to know of values. By setting. */
export interface RecordForm {
  readonly key: Readonly<Record<string, string>>;
  readonly value: Readonly<Record<string, string>>;
}

/** The feed and where its records are, for messages. */
interface NamedTopic {
  readonly feedId: string;
  readonly topic: string;
}

export function recordFormOf(spec: Pick<FeedSpec, 'keyColumns' | 'envelope' | 'records' | 'schemas'>): RecordForm {
  const { keyColumns, envelope, records, schemas } = spec;
  const part = (of: 'key' | 'value'): Readonly<Record<string, string>> => {
    const { decimals, times, binary } = valueEncoding(spec, of).forms;
    return { decimalHandling: decimals, timePrecision: times, binaryHandling: binary, schemas: String(schemas) };
  };
  const keyColumnsText = printJson(keyColumns);
  const { encoding, keyEncoding = encoding, cloudEventMode } = records;
  return {
    key: keyColumns.length === 0 ? { keyColumns: keyColumnsText } : { keyColumns: keyColumnsText, keyEncoding, ...part('key') },
    value: { envelope, encoding, ...part('value'), ...(envelope === 'cloudevents' ? { cloudEventMode } : {}) },
  };
}

/** `undefined` for what is none. */
export function parseRecordForm(root: JsonValue | undefined): RecordForm | undefined {
  const [key, value] = isJsonObject(root) ? [textsIn(root['key']), textsIn(root['value'])] : [];
  return key === undefined || value === undefined ? undefined : { key, value };
}

/**
 * What is published has another form than what the settings make.
 *
 * @throws ServiceError `FEED_KEYS_CHANGED`, `FEED_VALUES_CHANGED` (both invalid) naming the settings, with what they were and are.
 */
export function refuseOtherForm(spec: FeedSpec, was: RecordForm): void {
  const is = recordFormOf(spec);
  const keys = differences(was.key, is.key);
  const feedId = feedIdOf(spec);
  if (keys.length > 0) throw keysChanged({ feedId, topic: spec.topic }, keys.join(', '));
  const values = differences(was.value, is.value);
  if (values.length === 0) return;
  throw serviceError.invalid(
    'FEED_VALUES_CHANGED',
    `feed "${feedId}": the records in topic "${spec.topic}" were told otherwise than the settings tell those to come: ${values.join(', ')}`,
    { hint: cure(feedId, 'consumers then have to read both') },
  );
}

/** @throws ServiceError `FEED_KEYS_CHANGED` (invalid): keys of one row before and behind the version are not the same bytes. */
export function refuseOtherKeys(
  feed: NamedTopic,
  { version, was, is }: { readonly version: number; readonly was: string | undefined; readonly is: string | undefined },
): void {
  if (was === undefined || is === undefined || was === is) return;
  throw keysChanged(feed, `keys of version ${version} of the table are ${is}, those before it were ${was}`);
}

function keysChanged({ feedId, topic }: NamedTopic, what: string): ServiceError {
  return serviceError.invalid(
    'FEED_KEYS_CHANGED',
    `feed "${feedId}": a row's key would have other bytes than those in topic "${topic}": ${what}`,
    {
      hint: cure(
        feedId,
        "a row's next event may then be in another partition than those before, and a compacted topic keeps its old key, too",
      ),
    },
  );
}

function cure(feedId: string, consequence: string): string {
  return `give the feed another topic, or put the change back; "tidewater feeds reset ${feedId} --to current --yes" goes on in this topic all the same: ${consequence}`;
}

function differences(was: Readonly<Record<string, string>>, is: Readonly<Record<string, string>>): readonly string[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((name) => was[name] !== is[name])
    .map((name) => `${name} was ${was[name] ?? 'not set'} and is ${is[name] ?? 'not set'}`);
}

function textsIn(value: JsonValue | undefined): Readonly<Record<string, string>> | undefined {
  if (!isJsonObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).flatMap(([name, text]) => (typeof text === 'string' ? [[name, text] as const] : [])));
}
