import { partitionPoint } from '../../base/partition-point.ts';
import { parseAccounting } from '../../protocol/commit-accounting.ts';
import type { SourceRange } from '../../protocol/source-offsets.ts';

interface CommittedRange extends Pick<SourceRange, 'from' | 'until'> {
  readonly deadLettered: number;
}

interface PartitionRanges {
  /** Of the newest commit first. */
  readonly ranges: CommittedRange[];
  /** Each ends where the one before it begins, or earlier: only a table that was put back has an offset twice. */
  descend: boolean;
}

/** What a table's commits say of the source offsets they cover, as far as its log goes back. */
export class CommittedRanges {
  /** By topic and partition. */
  readonly #partitions = new Map<string, PartitionRanges>();

  /** `versions`: the newest first. */
  constructor(versions: Iterable<{ readonly userMetadata?: string | undefined }>, pipeline: string) {
    for (const { userMetadata } of versions) {
      const accounting = parseAccounting(userMetadata);
      if (accounting?.pipeline !== pipeline) continue;
      for (const { topic, partition, from, until } of accounting.ranges) {
        const known = this.#partitions.get(`${topic}:${partition}`) ?? { ranges: [], descend: true };
        known.descend &&= until <= (known.ranges.at(-1)?.from ?? until);
        known.ranges.push({ from, until, deadLettered: accounting.deadLettered });
        this.#partitions.set(`${topic}:${partition}`, known);
      }
    }
  }

  /** Whether the newest commit of the record has no dead letter. `undefined`: the log does not have it any more. */
  hasNoLetters(topic: string, partition: number, offset: bigint): boolean | undefined {
    const known = this.#partitions.get(`${topic}:${partition}`);
    const found = known === undefined ? undefined : covering(known, offset);
    return found === undefined ? undefined : found.deadLettered === 0;
  }
}

function covering({ ranges, descend }: PartitionRanges, offset: bigint): CommittedRange | undefined {
  const covers = ({ from, until }: CommittedRange): boolean => from <= offset && offset < until;
  if (!descend) return ranges.find(covers);
  const found = ranges[partitionPoint(0, ranges.length, (index) => (ranges[index]?.from ?? 0n) > offset)];
  return found !== undefined && covers(found) ? found : undefined;
}
