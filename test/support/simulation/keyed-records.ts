import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import { type Random, randomInt } from '../../../src/base/random.ts';
import type { Engine } from '../../../src/engine/engine.ts';
import type { KafkaRecord } from '../../../src/kafka/client.ts';
import type { DecodeSpec } from '../../../src/protocol/sealed-batch.ts';
import type { QueryableTable } from '../../../src/table/table.ts';
import type { KeyedShape, SimulatedWorld } from './simulated-world.ts';
import { changesTopic, sourceTopic } from './simulated-world.ts';
import { headerOf, readTopic, textOf } from './topic-checks.ts';

/** Payloads for few keys: rows and deletes, in order; or in any partition with a number of their own, some of them late and some again. */
export class KeyedRecords {
  readonly #shape: KeyedShape;
  readonly #partitions: number;
  readonly #random: Random;
  readonly #held: string[] = [];
  readonly #sent: string[] = [];

  constructor(shape: KeyedShape, partitions: number, random: Random) {
    this.#shape = shape;
    this.#partitions = partitions;
    this.#random = random;
  }

  /** Of the next records. */
  partition(): number {
    return randomInt(this.#random, this.#partitions);
  }

  next(number: number, partition: number): string {
    const { ordered, keys } = this.#shape;
    const draw = randomInt(this.#random, keys);
    // Without an order a key is always in the same partition.
    const id = ordered ? draw : draw * this.#partitions + partition;
    const made = `{"id":${id},"city":"c${number % 7}","amount":${(number % 1_000) + 0.25},"n":${number},"gone":${this.#random.next() < 0.35}}`;
    const payload = ordered ? this.#displaced(made) : made;
    this.#sent.push(payload);
    return payload;
  }

  /** The one that is made now, one that was held back, or one that was sent before. */
  #displaced(made: string): string {
    const kind = this.#random.next();
    if (kind < 0.15) return this.#sent[randomInt(this.#random, Math.max(1, this.#sent.length))] ?? made;
    if (kind < 0.35) this.#held.push(made);
    else if (kind < 0.65 || this.#held.length === 0) return made;
    else this.#held.push(made);
    return this.#held.splice(randomInt(this.#random, this.#held.length), 1)[0] ?? made;
  }
}

/** How records fill the keyed table. */
export function keyedSpec({ ordered }: KeyedShape): Pick<DecodeSpec, 'keyed'> {
  const deleted = { kind: 'column', name: 'gone' } as const;
  return { keyed: { keyColumns: ['id'], orderColumns: ordered ? ['n'] : [], deleted, onTruncate: 'reject' } };
}

/** K1 and K2: the table has of each key the record of the highest number, or the last one, or none if that deletes; and so has who folds its feed. */
export async function checkKeyed(world: SimulatedWorld, table: QueryableTable, engine: Engine): Promise<readonly string[]> {
  const wanted = foldOf(await readTopic(world.observer, sourceTopic), world.keyedBy?.ordered === true);
  for (const id of world.foreignKeys) wanted.set(String(id), `${id}|foreign||0`);
  const rows = await engine.scan(await table.scan(await table.refresh()));
  const found = await engine.rows(`SELECT id, city, CAST(amount AS VARCHAR), n FROM (${rows.sql})`);
  await rows.dispose();
  const texts = found.map(([id, city, amount, n]) => `${String(id)}|${String(city)}|${amount === null ? '' : Number(amount)}|${String(n)}`);
  return [
    ...differences('K1: the table', texts, [...wanted.values()]),
    ...differences(
      'K2: the fold of the feed',
      [...foldOfChanges(await readTopic(world.observer, changesTopic)).values()],
      [...wanted.values()],
    ),
  ];
}

function foldOf(records: readonly KafkaRecord[], ordered: boolean): Map<string, string> {
  const latest = new Map<string, JsonObject>();
  for (const record of records) {
    if (headerOf(record, 'expect') !== 'row') continue;
    const payload = parseJson(textOf(record.value), 'record');
    if (!isJsonObject(payload)) continue;
    const known = latest.get(plain(payload['id']));
    if (!ordered || known === undefined || Number(payload['n']) >= Number(known['n'])) latest.set(plain(payload['id']), payload);
  }
  return new Map([...latest].flatMap(([id, payload]) => (payload['gone'] === true ? [] : [[id, rowText(payload)] as const])));
}

function foldOfChanges(records: readonly KafkaRecord[]): Map<string, string> {
  const rows = new Map<string, string>();
  for (const record of records) {
    const event = parseJson(textOf(record.value), 'event');
    const [before, after] = isJsonObject(event) ? [event['before'], event['after']] : [];
    if (before !== undefined && isJsonObject(before)) rows.delete(plain(before['id']));
    if (after !== undefined && isJsonObject(after)) rows.set(plain(after['id']), rowText(after));
  }
  return rows;
}

function rowText({ id, city, amount, n }: JsonObject): string {
  return `${plain(id)}|${plain(city)}|${amount === null || amount === undefined ? '' : Number(amount)}|${plain(n)}`;
}

function differences(what: string, found: readonly string[], wanted: readonly string[]): readonly string[] {
  const [left, right] = [found.toSorted(), wanted.toSorted()];
  if (left.join('\n') === right.join('\n')) return [];
  const [more, less] = [left.filter((row) => !right.includes(row)), right.filter((row) => !left.includes(row))];
  return [
    `${what} has ${left.length} rows, wanted are ${right.length}; too many: ${more.slice(0, 5).join(', ')}; missing: ${less.slice(0, 5).join(', ')}`,
  ];
}

function plain(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : printJson(value ?? null);
}
