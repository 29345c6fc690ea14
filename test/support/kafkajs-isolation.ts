import { createRequire } from 'node:module';

interface FetchResponse {
  readonly responses: readonly {
    readonly partitions: readonly { abortedTransactions: readonly { readonly firstOffset: string }[] | null }[];
  }[];
}

interface FetchDecoder {
  decode: (payload: unknown) => Promise<FetchResponse>;
}

/**
 * Makes readers of kafkajs leave out every aborted transaction. A broker lists them by where they ended; kafkajs takes the list for one by where they
 * began, and shows records of a transaction that is listed behind a later one (its `filterAbortedMessages`, 2.2.4).
 */
export function sortAbortedTransactions(): void {
  const decoder = createRequire(import.meta.url)('kafkajs/src/protocol/requests/fetch/v11/response') as FetchDecoder;
  const { decode } = decoder;
  decoder.decode = async (payload) => {
    const response = await decode(payload);
    for (const partition of response.responses.flatMap(({ partitions }) => partitions)) {
      partition.abortedTransactions = [...(partition.abortedTransactions ?? [])].sort(
        (a, b) => Number(a.firstOffset) - Number(b.firstOffset),
      );
    }
    return response;
  };
}
