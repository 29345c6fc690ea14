/** The half-open range `[from, until)` of one Kafka partition that a batch covers. */
export interface SourceRange {
  readonly topic: string;
  readonly partition: number;
  readonly from: bigint;
  readonly until: bigint;
}

/**
 * What a topic is, beyond its name: a topic that was deleted and created again, or lives on another cluster, is another source and
 * its offsets mean other records.
 */
export interface SourceIdentity {
  readonly pipeline: string;
  readonly clusterId: string;
  readonly topic: string;
  /** The broker's id of the topic's incarnation; `-` when the broker does not tell. */
  readonly topicId: string;
}

/**
 * The name under which a partition's progress mark is stored in the table: stable across restarts, redeploys and hosts, different
 * for every incarnation of the source. None of the parts can hold a colon.
 */
export function writerIdOf(source: SourceIdentity, partition: number): string {
  return `${source.pipeline}:${source.topic}:${partition}:${source.clusterId}:${source.topicId}`;
}

/** Prefix of the marks of one partition whatever cluster and incarnation it belonged to. */
export function writerIdPrefix(pipeline: string, topic: string, partition: number): string {
  return `${pipeline}:${topic}:${partition}:`;
}

/** Whose writer id it is. */
export function pipelineOf(writerId: string): string {
  return writerId.slice(0, Math.max(0, writerId.indexOf(':')));
}

/** The partition and incarnation a writer id names; `undefined` when it is not one of `pipeline`'s. */
export function parseWriterId(writerId: string, pipeline: string): (SourceIdentity & { readonly partition: number }) | undefined {
  const [owner, topic, partitionText, clusterId, topicId, ...rest] = writerId.split(':');
  if (owner !== pipeline || topic === undefined || clusterId === undefined || topicId === undefined || rest.length > 0) return undefined;
  const partition = Number(partitionText);
  return Number.isInteger(partition) && partition >= 0 ? { pipeline, clusterId, topic, topicId, partition } : undefined;
}

/** Tells what a topic is now; `undefined` when it does not exist. */
export interface SourceIdentities {
  identityOf(topic: string): Promise<SourceIdentity | undefined>;
}
