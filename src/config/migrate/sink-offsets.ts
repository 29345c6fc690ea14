import { textLiteral } from '../../session/execute/sql-text.ts';
import { topicColumn } from './record-draft.ts';
import type { PlannedColumn, PlannedCondition } from './sink-plan.ts';

/** How far a sink is in a partition: its next offset. */
export interface SinkOffset {
  readonly topic: string;
  readonly partition: number;
  readonly offset: bigint;
}

/** Columns of the place that a record has in its topic. */
export const placeColumns: readonly PlannedColumn[] = [
  { name: 'kafka_partition', type: { kind: 'integer' }, from: 'partition' },
  { name: 'kafka_offset', type: { kind: 'long' }, from: 'offset' },
];

/**
 * `topic:partition:offset`, with commas between. `undefined`: the text is none. Offsets are those of the group of the sink: of the first
 * records that it has not written.
 */
export function parseOffsets(text: string): readonly SinkOffset[] | undefined {
  const offsets = text.split(',').map((item) => {
    const [, topic, partition, offset] = /^\s*([\w.-]{1,249}):(\d{1,9}):(\d{1,18})\s*$/.exec(item) ?? [];
    return topic === undefined ? undefined : { topic, partition: Number(partition), offset: BigInt(offset ?? 0) };
  });
  return offsets.every((offset) => offset !== undefined) ? offsets : undefined;
}

/** Leaves out what the sink has written of these topics; of partitions without an offset it has written nothing. */
export function behindOffsets(offsets: readonly SinkOffset[], topics: readonly string[]): PlannedCondition | undefined {
  const written = topics.flatMap((topic) => {
    const places = offsets
      .filter((offset) => offset.topic === topic && offset.offset > 0n)
      .map(({ partition, offset }) => `(kafka_partition = ${partition} AND kafka_offset < ${offset})`);
    if (places.length === 0) return [];
    const all = places.join(' OR ');
    return [topics.length === 1 ? all : `(kafka_topic = ${textLiteral(topic)} AND (${all}))`];
  });
  if (written.length === 0) return undefined;
  return {
    sql: `NOT (${written.join(' OR ')})`,
    needs: topics.length === 1 ? placeColumns : [topicColumn, ...placeColumns],
    note: 'what the sink has written, by --offsets; take it out when the topics hold none of it any more',
  };
}
