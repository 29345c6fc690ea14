import { isJsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import { serviceError } from '../base/errors.ts';
import type { FeedPosition } from '../protocol/change-event.ts';
import { nextVersion, toVersion, type Version } from '../table/version.ts';

/** Which incarnations a position speaks of: ids as `KafkaAdmin.topicId` tells them, `undefined` where the broker or an older version told none. */
export interface FeedTopicIds {
  /** Of the topic the rows are in. */
  readonly topicId: string | undefined;
  /** Of the positions topic. */
  readonly positionsTopicId: string | undefined;
}

/** A position as the positions topic has it. */
export interface StoredPosition extends FeedTopicIds {
  readonly position: FeedPosition;
}

/** What the positions topic holds of a feed. */
export interface StoredFeed {
  /** `undefined`: there is none. */
  readonly stored: StoredPosition | undefined;
  /** When it was paused, ISO 8601; `undefined`: it is not. */
  readonly pausedSince: string | undefined;
}

const noTopicIds: FeedTopicIds = { topicId: undefined, positionsTopicId: undefined };

/** The position as it is stored in the positions topic (docs/spec/change-event.md, "Positions"). */
export function printPosition(position: FeedPosition, ids: FeedTopicIds = noTopicIds): string {
  const { version, ordinal, complete, snapshot, tableId, order, link } = position;
  const { topicId, positionsTopicId } = ids;
  return printJson({
    ...{ version, ordinal, complete, snapshot, tableId, order },
    ...(link === undefined ? {} : { link }),
    ...(topicId === undefined ? {} : { topicId }),
    ...(positionsTopicId === undefined ? {} : { positionsTopicId }),
  });
}

/** @throws ServiceError `FEED_POSITION_INVALID` (kind corrupt) naming the feed. */
export function parsePosition(text: string, feedId: string): StoredPosition {
  const root = parseJson(text, `position of feed "${feedId}"`);
  const { version, ordinal, complete, snapshot, tableId, order, link, topicId, positionsTopicId } = isJsonObject(root) ? root : {};
  const whole = isCount(version, -1) && isCount(ordinal, 0) && typeof complete === 'boolean' && typeof snapshot === 'boolean';
  if (
    !whole ||
    !isTextOrAbsent(link) ||
    !isTextOrAbsent(topicId) ||
    !isTextOrAbsent(positionsTopicId) ||
    typeof tableId !== 'string' ||
    typeof order !== 'string'
  ) {
    throw serviceError.corrupt('FEED_POSITION_INVALID', `position of feed "${feedId}" is not one: ${text.slice(0, 200)}`);
  }
  const position = { version: toVersion(version), ordinal, complete, snapshot, tableId, order };
  return { position: link === undefined ? position : { ...position, link }, topicId, positionsTopicId };
}

export function samePosition(left: FeedPosition, right: FeedPosition): boolean {
  return printPosition(left) === printPosition(right);
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
