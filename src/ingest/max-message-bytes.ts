import { isServiceError } from '../base/errors.ts';
import type { KafkaAdmin } from '../kafka/client.ts';

/** What a broker takes when nothing else is known: the default of `max.message.bytes`. */
export const defaultMaxMessageBytes = 1_048_588;
/** No topic takes less: a letter's own headers need room. */
export const leastMaxMessageBytes: number = 16 * 1024;

/** What the topic's configuration says; a principal that may not read it finds out by what is refused. */
export async function maxMessageBytesOf(
  { admin }: { readonly admin: Pick<KafkaAdmin, 'topicConfig'> },
  topic: string,
): Promise<number | undefined> {
  try {
    const said = Number((await admin.topicConfig(topic)).get('max.message.bytes'));
    return Number.isInteger(said) ? Math.max(leastMaxMessageBytes, said) : undefined;
  } catch (error) {
    if (isServiceError(error, 'invalid', 'unsupported')) return undefined;
    throw error;
  }
}
