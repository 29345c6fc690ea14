import type { RejectReason } from '../../protocol/sealed-batch.ts';

/** What a person does about letters of a reason. */
export const letterCures: Readonly<Record<RejectReason, string>> = {
  'invalid-json': 'let the producer send one JSON object a value; if the values are in another encoding, set value.format of the route',
  'invalid-avro':
    'compare the schema that the payload names with the one that wrote it, and value.schemaId of the route with the producer’s serializer',
  'invalid-csv': 'compare value.fields and value.delimiter of the route with what the producer sends',
  'invalid-protobuf': 'compare value.schema and value.message of the route with the message that the producer sends',
  'unknown-schema': 'register the schema that the payload names, or set value.schemaId of the route to where the producer says it',
  'not-an-object': 'let the producer send an object; one plain value a record is value.format string or bytes',
  'not-an-event': 'let the connector send change events whole, or set value.envelope of the route to none',
  'null-value': 'set value.tombstones of the route to skip if records without a value mean nothing to the table',
  'wrong-type': 'correct the producer, or give the column the type that it sends',
  'out-of-range': 'give the column a wider type, or correct the producer',
  'missing-required': 'let the producer send the member, or make the column nullable',
  'unknown-member': 'add a column for the member, or set unknownMembers of the table to ignore',
  'duplicate-member': 'correct the producer: the same member is there twice in one object',
  'invalid-utf8': 'let the producer write texts in UTF-8',
  'too-deep': 'raise ingest.maxNestingDepth, or let the producer nest less',
  'too-large': 'raise ingest.maxUnpackedBytes, or let the producer compress less into one value or batch',
  'corrupt-payload': 'compare value.compression of the route with what the producer compresses with',
  'not-computed':
    'the message names the expression: write it so that it takes such values (try_cast, nullif, coalesce), or correct the producer',
  'expectation-failed': 'the message names the expectation: correct the producer, or set its onFailure to count',
  'no-table':
    'name what the message tells in divide.tables of the route, start again and replay the letters; or set divide.unmatched to skip',
  'corrupt-batch': 'look at the producer and its brokers: the batch is damaged',
  'batch-too-large':
    'raise ingest.maxUnpackedBytes, and ingest.memory where the log at the start says that it allows less (unpackedBytes); or let the producer make smaller batches',
};

/** `undefined` for a reason that this version does not know. */
export function cureOf(reason: string | undefined): string | undefined {
  return new Map<string | undefined, string>(Object.entries(letterCures)).get(reason);
}
