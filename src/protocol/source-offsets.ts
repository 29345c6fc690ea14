/** The half-open range `[from, until)` of one Kafka partition that a batch covers. */
export interface SourceRange {
  readonly topic: string;
  readonly partition: number;
  readonly from: bigint;
  readonly until: bigint;
}

/** What the progress mark of a Kafka partition is called: stable across restarts, redeploys and hosts. */
export function writerIdOf(source: {
  readonly pipeline: string;
  readonly clusterId: string;
  readonly topic: string;
  readonly partition: number;
}): string {
  return `${writerIdPrefix(source)}${source.partition}`;
}

/** Prefix shared by all partitions of a topic; ends with the separator. */
export function writerIdPrefix(source: { readonly pipeline: string; readonly clusterId: string; readonly topic: string }): string {
  return `${source.pipeline}:${source.clusterId}:${source.topic}:`;
}
