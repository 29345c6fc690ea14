import { isJsonObject, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import type { KafkaClient, KafkaRecord } from '../../../src/kafka/client.ts';
import { changesTopic, deadLetterTopic, type SimulatedWorld, sourceTopic } from './simulated-world.ts';
import { expectedText, liveRows, type TableEvidence } from './table-checks.ts';

/** Everything a topic holds for readers of committed records. */
export async function readTopic(client: KafkaClient, topic: string, readCommitted = true): Promise<readonly KafkaRecord[]> {
  const records: KafkaRecord[] = [];
  if ((await client.admin.partitionCount(topic)) === undefined) return records;
  for (const { partition, earliest, latest } of await client.admin.offsets(topic)) {
    const until = readCommitted ? latest : BigInt(Number.MAX_SAFE_INTEGER);
    for await (const record of client.readPartition({ topic, partition, from: earliest, until, readCommitted })) records.push(record);
  }
  return records;
}

/** I1 and I10: every record of the source is in the table once or among the dead letters once, as its header says it must. */
export async function checkSource(world: SimulatedWorld, evidence: TableEvidence): Promise<readonly string[]> {
  const found: string[] = [];
  const rows = new Map<string, string[]>();
  for (const row of await liveRows(evidence)) {
    if (row.partition < 0) continue;
    const place = `${row.partition}:${row.offset}`;
    rows.set(place, [...(rows.get(place) ?? []), row.text]);
  }
  const { dead, doubled } = await deadLetters(world.observer);
  for (const place of doubled) found.push(`I10: ${place} is a dead letter more than once`);
  for (const record of await readTopic(world.observer, sourceTopic)) {
    const place = `${record.partition}:${record.offset}`;
    const expected = headerOf(record, 'expect');
    const [inTable, reason] = [rows.get(place) ?? [], dead.get(place)];
    rows.delete(place);
    dead.delete(place);
    if (expected === 'row') {
      const payload = parseJson(textOf(record.value), place);
      const text = isJsonObject(payload) ? expectedText(record.partition, record.offset, payload) : '';
      if (inTable.length !== 1) found.push(`I1: ${place} is ${inTable.length} times in the table`);
      else if (inTable[0] !== text) found.push(`I1: ${place} is "${inTable[0] ?? ''}" in the table, not "${text}"`);
      if (reason !== undefined) found.push(`I10: ${place} is a dead letter (${reason}) and fits the table`);
    } else {
      if (inTable.length > 0) found.push(`I10: ${place} is in the table, though ${expected}`);
      if (reason !== expected) found.push(`I10: ${place} is a dead letter for ${reason ?? 'nothing'}, not ${expected}`);
    }
  }
  for (const place of rows.keys()) found.push(`I1: ${place} is in the table and not in the source`);
  for (const place of dead.keys()) found.push(`I10: ${place} is a dead letter and not in the source`);
  return found;
}

async function deadLetters(client: KafkaClient): Promise<{ readonly dead: Map<string, string>; readonly doubled: readonly string[] }> {
  const dead = new Map<string, string>();
  const doubled: string[] = [];
  for (const record of await readTopic(client, deadLetterTopic)) {
    const place = `${headerOf(record, '__connect.errors.partition')}:${headerOf(record, '__connect.errors.offset')}`;
    if (dead.has(place)) doubled.push(place);
    dead.set(place, headerOf(record, 'tidewater.dlq.reason'));
  }
  return { dead, doubled };
}

/** I9: the topic holds each change once, in the order of versions and ordinals in each partition. */
export async function checkChanges(world: SimulatedWorld, { versions, files }: TableEvidence): Promise<readonly string[]> {
  const found: string[] = [];
  const published = new Map<number, { readonly ordinal: number; readonly text: string }[]>();
  const last = new Map<number, readonly [version: number, ordinal: number]>();
  for (const record of await readTopic(world.observer, changesTopic)) {
    const [version, ordinal] = [Number(headerOf(record, 'version')), Number(headerOf(record, 'ordinal'))];
    const [lastVersion, lastOrdinal] = last.get(record.partition) ?? [-1, -1];
    if (version < lastVersion || (version === lastVersion && ordinal <= lastOrdinal)) {
      found.push(`I9: in partition ${record.partition} ${version}/${ordinal} follows ${lastVersion}/${lastOrdinal}`);
    }
    last.set(record.partition, [version, ordinal]);
    published.set(version, [...(published.get(version) ?? []), { ordinal, text: changedRow(record) }]);
  }
  for (const { version, adds } of versions) {
    const rows = await Promise.all(adds.filter(({ dataChange }) => dataChange).map((file) => files.rows(file)));
    const expected = rows.flat().map(({ text }) => text);
    const events = (published.get(version) ?? []).sort((left, right) => left.ordinal - right.ordinal);
    published.delete(version);
    const dense = events.every(({ ordinal }, index) => ordinal === index);
    const same =
      events
        .map(({ text }) => text)
        .sort()
        .join('\n') === expected.sort().join('\n');
    if (!dense || !same)
      found.push(`I9: version ${version} has ${expected.length} changes, published are ${events.length}, dense: ${dense}, same: ${same}`);
  }
  for (const version of published.keys()) found.push(`I9: version ${version} was published and does not exist`);
  return found;
}

function changedRow(record: KafkaRecord): string {
  const event = parseJson(textOf(record.value), 'event');
  const after = isJsonObject(event) ? event['after'] : undefined;
  if (after === undefined || !isJsonObject(after)) return `no row: ${textOf(record.value)}`;
  const [partition, offset] = [Number(after['source_partition']), BigInt(printJson(after['source_offset'] ?? null))];
  const amount = after['amount'];
  return expectedText(partition, offset, { ...after, amount: amount === null || amount === undefined ? null : Number(amount) });
}

export function headerOf(record: KafkaRecord, name: string): string {
  return textOf(record.headers.find(([candidate]) => candidate === name)?.[1]);
}

export function textOf(bytes: Uint8Array | undefined): string {
  return bytes === undefined ? '' : Buffer.from(bytes).toString('utf8');
}
