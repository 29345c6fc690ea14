import { setImmediate } from 'node:timers/promises';
import type { EventEncoding } from '../../../../src/protocol/change-event.ts';
import { avroValue, protobufValue } from '../decoded-values.ts';
import type { FeedHarness } from '../feed-harness.ts';

export interface KeyAndValue {
  readonly key: unknown;
  readonly value: unknown;
}

/** The records of a topic beside a feed's, whatever their encoding; longs as numbers. */
export async function metadataOf(harness: FeedHarness, topic: string, encoding: EventEncoding = 'json'): Promise<readonly KeyAndValue[]> {
  const decode = (bytes: Uint8Array | undefined, part: 'key' | 'value'): unknown =>
    plain(decoded(harness, { subject: `${topic}-${part}`, encoding, bytes: Buffer.from(bytes ?? []) }));
  return (await harness.published(topic)).map(({ key, value }) => ({ key: decode(key, 'key'), value: decode(value, 'value') }));
}

function decoded(
  harness: FeedHarness,
  { subject, encoding, bytes }: { readonly subject: string; readonly encoding: EventEncoding; readonly bytes: Buffer },
): unknown {
  if (encoding === 'json') return JSON.parse(bytes.toString());
  const schema = harness.subjects.bySubject.get(subject)?.[0]?.text ?? '';
  if (bytes[0] !== 0) throw new Error('the record has no number of a schema');
  const payload = bytes.subarray(5);
  if (encoding === 'avro') return avroValue(schema, payload);
  if (encoding === 'json-schema') return JSON.parse(payload.toString());
  const [, packageName = ''] = /^package (.*);$/m.exec(schema) ?? [];
  const [, message = ''] = /^message (\w+)/m.exec(schema) ?? [];
  return protobufValue(schema, `${packageName}.${message}`, payload);
}

/** Avro's longs are bigints and Protobuf's are text here; Protobuf's lists lie in messages, and what is null is left out everywhere. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part)),
    (name, part: unknown) => {
      if (part === null) return undefined;
      const isLong = typeof part === 'string' && /^\d+$/.test(part) && /^(event_count|ts_ms|tableVersion|seq)$/.test(name);
      if (isLong) return Number(part);
      const isList = typeof part === 'object' && Object.keys(part).join() === 'items';
      return isList ? (part as { readonly items: unknown }).items : part;
    },
  );
}

/** What is not zero or false, of values that can be null too: those are written out. */
export function withoutZeros(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (name, part: unknown) => (part === 0 && /^(tableVersion|seq)$/.test(name) ? undefined : part));
}

/** Resolves when the condition holds, looked at while everything else goes on. */
export async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await setImmediate();
}
