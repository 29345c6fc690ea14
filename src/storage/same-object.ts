import type { ObjectInfo } from './object-store.ts';

const msPerSecond = 1_000;

/**
 * Whether two looks at one path saw the same writing of it. Without etags the time decides to the second: what a listing tells in milliseconds,
 * some servers tell in seconds when they are asked for the one object.
 */
export function isSameObject(left: ObjectInfo, right: ObjectInfo): boolean {
  if (left.sizeBytes !== right.sizeBytes) return false;
  if (left.etag !== undefined && right.etag !== undefined) return left.etag === right.etag;
  return secondsOf(left) === secondsOf(right);
}

function secondsOf({ modifiedMs }: ObjectInfo): number {
  return Math.floor(modifiedMs / msPerSecond);
}
