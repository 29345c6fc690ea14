import { readFileSync, writeFileSync } from 'node:fs';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { readAvroFile, writeAvroFile } from '../avro-file.ts';

/**
 * Damages metadata of an Iceberg table into what is well formed and means nothing: a value of another type, a count below zero, a kind that there
 * is not. No row may go unseen: the rows are the same, because the value is not needed, or the table is refused.
 */
export function damageIcebergStructure(random: Random, path: string): string {
  return path.endsWith('.json') ? damageJson(random, path) : damageAvro(random, path);
}

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

const others: Readonly<Record<string, readonly Json[]>> = {
  string: [5, true, [5], { x: 1 }],
  number: ['text', true, [5], { x: 1 }, 1.5],
  boolean: ['text', 5],
  list: ['text', 5, { x: 1 }],
  object: ['text', 5, [5]],
};

/** Puts a value of another type in the place of one of the document's. */
function damageJson(random: Random, path: string): string {
  const root = JSON.parse(readFileSync(path, 'utf8')) as Json;
  const places = [...placesIn(root, '')];
  const place = places[randomInt(random, places.length)];
  if (place === undefined) return 'nothing';
  const options = others[kindOf(place.value)] ?? [];
  const value = options[randomInt(random, options.length)] ?? null;
  place.set(value);
  writeFileSync(path, JSON.stringify(root));
  return `${place.name} is ${JSON.stringify(value)}`;
}

interface Place {
  readonly name: string;
  readonly value: Json;
  readonly set: (value: Json) => void;
}

/** Properties of tables and summaries of snapshots are texts for people and engines: what another type in them means is left to readers. */
const free = /^(properties|snapshots\.\d+\.summary|metadata-log|snapshot-log|statistics|partition-statistics)\./;

function* placesIn(value: Json, name: string): Generator<Place, void, undefined> {
  if (value === null || typeof value !== 'object') return;
  for (const [key, member] of Object.entries(value)) {
    const path = name === '' ? key : `${name}.${key}`;
    if (free.test(path) || member === null) continue;
    yield { name: path, value: member, set: (next) => void Object.assign(value, { [key]: next }) };
    yield* placesIn(member, path);
  }
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return 'list';
  return typeof value;
}

type AvroRecord = Record<string, unknown>;

/** Values by the field's name that no writer may write, for the lists of manifests and for the entries of manifests alike. */
const meaningless: Readonly<Record<string, readonly unknown[]>> = {
  added_files_count: [-1, 1_000],
  added_data_files_count: [-1, 1_000],
  existing_files_count: [-1, 1_000],
  existing_data_files_count: [-1, 1_000],
  deleted_files_count: [-1, 1_000],
  deleted_data_files_count: [-1, 1_000],
  added_rows_count: [-5n],
  existing_rows_count: [-5n],
  manifest_length: [-1n, 0n, 1n],
  manifest_path: ['', 'nowhere.avro', '/etc/hostname'],
  partition_spec_id: [99, -1],
  content: [-1, 3, 7],
  sequence_number: [-5n],
  min_sequence_number: [-5n],
  status: [-1, 3, 7],
  file_path: ['', 'nowhere.parquet', '/etc/hostname'],
  file_format: ['', 'XYZ'],
  record_count: [-1n],
  file_size_in_bytes: [-1n],
};

function damageAvro(random: Random, path: string): string {
  const file = readAvroFile(readFileSync(path));
  const places = (file.records as AvroRecord[]).flatMap((record, index) =>
    [record, record['data_file'] as AvroRecord | undefined].flatMap((holder) =>
      Object.keys(holder ?? {}).flatMap((name) => (name in meaningless && holder?.[name] !== null ? [{ holder, name, index }] : [])),
    ),
  );
  const place = places[randomInt(random, Math.max(1, places.length))];
  if (place?.holder === undefined) return 'nothing';
  const values = meaningless[place.name] ?? [];
  const value = values[randomInt(random, values.length)];
  place.holder[place.name] = value;
  writeFileSync(path, writeAvroFile(file));
  return `record ${place.index}: ${place.name} is ${typeof value === 'bigint' ? `${value}` : JSON.stringify(value)}`;
}
