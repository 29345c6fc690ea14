import { expect, it } from 'vitest';
import { otherPipelines } from '../../../src/ingest/other-pipelines.ts';
import { writerIdOf } from '../../../src/protocol/source-offsets.ts';

it('names every other pipeline that has read a topic into the table, once, and no other marks', () => {
  const mark = (pipeline: string, topic: string, partition: number): readonly [string, bigint] => [
    writerIdOf({ pipeline, topic, clusterId: 'c', topicId: 'i' }, partition),
    7n,
  ];
  const marks = new Map([
    mark('own', 'orders', 0),
    mark('old', 'orders', 0),
    mark('old', 'orders', 1),
    mark('old', 'clicks', 0),
    ['a-spark-query', 3n] as const,
    ['x:y', 3n] as const,
  ]);
  expect(otherPipelines(marks, { pipeline: 'own', reads: (topic) => ['orders', 'visits'].includes(topic) })).toEqual([
    { topic: 'orders', pipeline: 'old' },
  ]);
  expect(otherPipelines(marks, { pipeline: 'old', reads: (topic) => topic === 'clicks' })).toEqual([]);
});
