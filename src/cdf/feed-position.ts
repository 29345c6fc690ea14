import { isJsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { nextVersion, toVersion, type Version } from '../table/version.ts';
import { parseRecordForm, type RecordForm } from './record-form.ts';

/** How the rows before a position were published; `undefined` where the broker or an older version told nothing. */
export interface PublishedAs {
  /** Of the incarnation of the topic that the rows are in, as `KafkaAdmin.topicId` tells it. */
  readonly topicId?: string | undefined;
  /** Of the positions topic. */
  readonly positionsTopicId?: string | undefined;
  /** How many partitions keys are spread over. */
  readonly partitions?: number | undefined;
  readonly form?: RecordForm | undefined;
}

/** A position as the positions topic has it. */
export interface StoredPosition extends PublishedAs {
  readonly position: FeedPosition;
}

/** What the positions topic holds of a feed. */
export interface StoredFeed {
  /** `undefined`: there is none. */
  readonly stored: StoredPosition | undefined;
  /** When it was paused, ISO 8601; `undefined`: it is not. */
  readonly pausedSince: string | undefined;
}

/** The position as it is stored in the positions topic (docs/spec/change-event.md, "Positions"). */
export function printPosition(position: FeedPosition, as: PublishedAs = {}): string {
  const { version, ordinal, complete, snapshot, tableId, order, events, schema, link, keys } = position;
  const { topicId, positionsTopicId, partitions, form } = as;
  return printJson({
    ...{ version, ordinal, complete, snapshot, tableId, order },
    ...(events === undefined ? {} : { events }),
    ...(schema === undefined ? {} : { schema }),
    ...(link === undefined ? {} : { link }),
    ...(keys === undefined ? {} : { keys }),
    ...(topicId === undefined ? {} : { topicId }),
    ...(positionsTopicId === undefined ? {} : { positionsTopicId }),
    ...(partitions === undefined ? {} : { partitions }),
    ...(form === undefined ? {} : { form: { key: form.key, value: form.value } }),
  });
}

/** @throws ServiceError `FEED_POSITION_INVALID` (kind corrupt) naming the feed. */
export function parsePosition(text: string, feedId: string): StoredPosition {
  const root = parseJson(text, `position of feed "${feedId}"`);
  const fields = isJsonObject(root) ? root : {};
  const { version, ordinal, complete, snapshot, tableId, order, events, schema, link, keys, topicId, positionsTopicId, partitions } =
    fields;
  const whole = isCount(version, -1) && isCount(ordinal, 0) && typeof complete === 'boolean' && typeof snapshot === 'boolean';
  if (
    !whole ||
    !(events === undefined || isCount(events, 0)) ||
    !isTextOrAbsent(schema) ||
    !isTextOrAbsent(link) ||
    !isTextOrAbsent(keys) ||
    !(partitions === undefined || isCount(partitions, 1)) ||
    !isTextOrAbsent(topicId) ||
    !isTextOrAbsent(positionsTopicId) ||
    typeof tableId !== 'string' ||
    typeof order !== 'string'
  ) {
    throw serviceError.corrupt('FEED_POSITION_INVALID', `position of feed "${feedId}" is not one: ${text.slice(0, 200)}`);
  }
  const position = {
    ...{ version: toVersion(version), ordinal, complete, snapshot, tableId, order },
    ...(events === undefined ? {} : { events }),
    ...(schema === undefined ? {} : { schema }),
    ...(link === undefined ? {} : { link }),
    ...(keys === undefined ? {} : { keys }),
  };
  return { position, topicId, positionsTopicId, partitions, form: parseRecordForm(fields['form']) };
}

export function samePosition(left: FeedPosition, right: FeedPosition): boolean {
  return printPosition(left) === printPosition(right);
}

/** Whether all of the version is published. */
export function isCovered(version: Version, by: FeedPosition): boolean {
  return by.version > version || (by.version === version && by.complete);
}

/** Whether rows of a snapshot come next. */
export function isInSnapshot({ snapshot, complete }: FeedPosition): boolean {
  return snapshot && !complete;
}

/** What a feed does next at the position, for its state. */
export function positionEvent(position: FeedPosition): 'at-snapshot' | 'at-changes' {
  return isInSnapshot(position) ? 'at-snapshot' : 'at-changes';
}

/** The oldest version whose changes (or rows) the feed still has to read. */
export function firstNeededVersion(position: FeedPosition): Version {
  return position.complete ? nextVersion(position.version) : position.version;
}

/** Versions not completely published, up to `latest`. */
export function versionsBehind(position: FeedPosition, latest: Version): number {
  return Math.max(0, latest - (position.complete ? position.version : position.version - 1));
}

function isTextOrAbsent(value: unknown): value is string | undefined {
  return value === undefined || typeof value === 'string';
}

function isCount(value: unknown, min: number): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= min;
}
