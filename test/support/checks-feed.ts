import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Kafka, KafkaMessage } from 'kafkajs';
import { rowText } from './checks-table.ts';
import { sortAbortedTransactions } from './kafkajs-isolation.ts';

sortAbortedTransactions();

/** How long a topic must stay silent after the last expected record: a record too many would come by then. */
const silenceMs = 700;

export type Received = KafkaMessage & { readonly topic: string; readonly partition: number };

/** How long to wait for what should be there since the pipeline drained; a busy broker takes its time with a new group and the ends of transactions. */
const defaultPatienceMs = 90_000;

/**
 * Reads topics from their beginning as a `read_committed` consumer of a plain client, which has no codec but gzip, until `done` says that everything expected is there and nothing
 * more comes, or until patience ends.
 */
export async function consume(
  kafka: Kafka,
  topics: readonly string[],
  done: (received: readonly Received[]) => boolean,
  patienceMs: number = defaultPatienceMs,
): Promise<readonly Received[]> {
  const received: Received[] = [];
  const consumer = kafka.consumer({ groupId: `check-${randomUUID()}`, readUncommitted: false, maxWaitTimeInMs: 100 });
  await consumer.connect();
  try {
    await consumer.subscribe({ topics: [...topics], fromBeginning: true });
    await consumer.run({
      autoCommit: false,
      eachMessage: ({ topic, partition, message }) => {
        received.push({ ...message, topic, partition });
        return Promise.resolve();
      },
    });
    const until = Date.now() + patienceMs;
    while (!done(received) && Date.now() < until) await sleep(silenceMs / 10);
    for (let before = -1; before < received.length; ) {
      before = received.length;
      await sleep(silenceMs);
    }
    return received;
  } finally {
    await consumer.disconnect();
  }
}

export interface FoldedFeed {
  readonly events: number;
  /** Rows as `rowText` has them, sorted. */
  readonly rows: readonly string[];
  readonly findings: readonly string[];
}

/** Folds a change topic by key (I8) and checks that each change is there once, in order, without a gap (I9). */
export function foldFeed(received: readonly Received[]): FoldedFeed {
  const findings: string[] = [];
  const rows = new Map<string, string>();
  const ordinals = new Map<number, Set<number>>();
  const newest = new Map<number, [number, number]>();
  for (const message of received) {
    const version = Number(header(message, 'version'));
    const ordinal = Number(header(message, 'ordinal'));
    const seen = ordinals.get(version) ?? new Set();
    ordinals.set(version, seen);
    if (header(message, 'tombstone') === undefined) {
      if (seen.has(ordinal)) findings.push(`I9: change ${version}/${ordinal} is published twice`);
      seen.add(ordinal);
    }
    const [lastVersion, lastOrdinal] = newest.get(message.partition) ?? [-1, -1];
    if (version < lastVersion || (version === lastVersion && ordinal < lastOrdinal)) {
      findings.push(`I9: partition ${message.partition} has ${version}/${ordinal} after ${lastVersion}/${lastOrdinal}`);
    }
    newest.set(message.partition, [version, ordinal]);
    apply(message, rows);
  }
  for (const [version, seen] of ordinals) {
    if (Math.max(...seen) !== seen.size - 1)
      findings.push(`I9: version ${version} has ${seen.size} changes, the last is ${Math.max(...seen)}`);
  }
  return { events: received.length, rows: [...rows.values()].sort(), findings };
}

function apply(message: Received, rows: Map<string, string>): void {
  const key = String(message.key);
  if (message.value === null) {
    rows.delete(key);
    return;
  }
  const { after } = JSON.parse(message.value.toString()) as { readonly after: Readonly<Record<string, unknown>> | null };
  if (after === null) rows.delete(key);
  else rows.set(key, rowText(after));
}

export function header(message: KafkaMessage, name: string): string | undefined {
  const value = message.headers?.[name];
  return value === undefined ? undefined : String(value);
}
