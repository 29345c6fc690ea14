import { isServiceError } from '../base/errors.ts';
import type { KafkaAdmin } from '../kafka/client.ts';

/** What a broker takes when nothing else is known: the default of `max.message.bytes`. */
export const defaultMaxMessageBytes = 1_048_588;
/** No topic takes less: a letter's own headers need room. */
export const leastMaxMessageBytes: number = 16 * 1024;

type Admin = { readonly admin: Pick<KafkaAdmin, 'topicConfig'> };

/** The topic's configuration; `undefined`: this principal may not read it. */
export async function topicConfigOf({ admin }: Admin, topic: string): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    return await admin.topicConfig(topic);
  } catch (error) {
    if (isServiceError(error, 'invalid', 'unsupported')) return undefined;
    throw error;
  }
}

/** What the topic's configuration says; who may not read it finds out by what is refused. */
export function maxMessageBytesIn(config: ReadonlyMap<string, string> | undefined): number | undefined {
  const said = Number(config?.get('max.message.bytes'));
  return Number.isInteger(said) ? Math.max(leastMaxMessageBytes, said) : undefined;
}

export async function maxMessageBytesOf(kafka: Admin, topic: string): Promise<number | undefined> {
  return maxMessageBytesIn(await topicConfigOf(kafka, topic));
}
