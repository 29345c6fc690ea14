import { parseWriterId, pipelineOf } from '../protocol/source-offsets.ts';

/** Another pipeline that has read a topic into the same table. */
export interface OtherPipeline {
  readonly topic: string;
  readonly pipeline: string;
}

/**
 * Who else has marks of these topics in a table. Two pipelines may read one topic into one table, each exactly once: every record is there
 * twice then, which is seldom what was meant.
 */
export function otherPipelines(
  marks: ReadonlyMap<string, bigint>,
  own: { readonly pipeline: string; readonly reads: (topic: string) => boolean },
): readonly OtherPipeline[] {
  const found = new Map<string, OtherPipeline>();
  for (const writerId of marks.keys()) {
    const pipeline = pipelineOf(writerId);
    const topic = parseWriterId(writerId, pipeline)?.topic;
    if (topic === undefined || pipeline === own.pipeline || !own.reads(topic)) continue;
    found.set(`${topic}:${pipeline}`, { topic, pipeline });
  }
  return [...found.values()];
}
