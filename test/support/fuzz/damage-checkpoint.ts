import { isJsonObject, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { buildBatch, type InputRow, type InputValue } from '../../../src/codec/build-columns.ts';
import { readParquet } from '../../../src/codec/parquet/read-parquet.ts';
import { writeParquet } from '../../../src/codec/parquet/write-parquet.ts';
import { rowsOf } from '../../../src/codec/rows.ts';
import type { DataType, Field, StructType } from '../../../src/schema/types.ts';
import type { Damage } from './damage.ts';
import { withOwnCheckpoint } from './own-checkpoint.ts';
import { linesOf, readBytes, type TableFiles, versionOf, writeBytes } from './table-files.ts';
import { standIn, withTwin } from './twin-column.ts';

interface Rows {
  readonly schema: StructType;
  readonly rows: readonly InputRow[];
}

/** A column or a member of one, and how to put others in its place: all of none, one or two fields. */
interface Place {
  readonly name: string;
  readonly field: Field;
  readonly replace: (rows: Rows, edit: FieldEdit) => Rows;
}

interface FieldEdit {
  readonly fields: readonly Field[];
  /** What becomes of a holder's members; `row`: which row of the file it is in. */
  readonly members: (members: InputRow, row: number) => InputRow;
}

/** What a writer may leave out, so that no reader can tell it from what was lost. */
const optional =
  /\.(tags|stats|deletionVector|offset|baseRowId|defaultRowCommitVersion|clusteringProvider|configuration|readerFeatures|writerFeatures)$|_parsed|^domainMetadata|^sidecar$|^checkpointMetadata|maxRowIndex/;

/**
 * Damages a Parquet file of a checkpoint into one that is well formed and has another shape: columns of another type, gone, renamed, twice,
 * null where a value must be. No row may go unseen: the rows are the same, or the table is refused.
 */
export async function damageCheckpoint(random: Random, sound: TableFiles): Promise<Damage | undefined> {
  const files = random.next() < 0.6 ? await withOwnCheckpoint(random, sound) : sound;
  const target = one(
    random,
    [...files.checkpoints, ...files.sidecars].filter((path) => path.endsWith('.parquet') && versionOf(path) === files.checkpointVersion),
  );
  if (target === undefined) return undefined;
  const { schema, batches } = await readParquet(readBytes(files, target));
  const damaged = one(random, changes)?.(random, { schema, rows: [...rowsOf(batches)] });
  if (damaged === undefined) return undefined;
  const written = await writeParquet([buildBatch(damaged.rows.schema, damaged.rows.rows)], { compression: 'snappy' });
  const bytes = damaged.twinOf === undefined ? written : withTwin(written, damaged.twinOf);
  writeBytes(files, target, bytes);
  sayNewSize(files, target, bytes.byteLength);
  return { text: `${target}: ${damaged.text}`, verdict: 'same-or-refused' };
}

interface Changed {
  readonly text: string;
  readonly rows: Rows;
  /** The name that the file is to have twice. */
  readonly twinOf?: string;
}

type Change = (random: Random, sound: Rows) => Changed | undefined;

const retyped: Change = (random, sound) => {
  const place = placeOf(random, placesIn(sound.schema));
  if (place === undefined) return undefined;
  const [type, value] = one(random, otherTypes) ?? otherTypes[0];
  if (type.kind === place.field.type.kind && type.kind !== 'struct') return undefined;
  const { name } = place.field;
  const members = (holder: InputRow): InputRow => ({ ...holder, [name]: isAbsent(holder[name]) ? null : value });
  return {
    text: `${place.name} is ${printJson(type as never)}`,
    rows: place.replace(sound, { fields: [{ name, type, nullable: true }], members }),
  };
};

const gone: Change = (random, sound) => {
  const place = placeOf(random, requiredPlaces(sound));
  if (place === undefined) return undefined;
  return { text: `without ${place.name}`, rows: place.replace(sound, { fields: [], members: (holder) => holder }) };
};

const renamed: Change = (random, sound) => {
  const place = placeOf(random, requiredPlaces(sound));
  if (place === undefined) return undefined;
  const old = place.field.name;
  const name = one(random, [`${old}x`, old.toUpperCase(), '']) ?? '';
  return {
    text: `${place.name} is called "${name}"`,
    rows: place.replace(sound, { fields: [{ ...place.field, name }], members: (holder) => ({ ...holder, [name]: holder[old] }) }),
  };
};

/** One of them has no value in any row. */
const doubled: Change = (random, sound) => {
  const place = placeOf(random, requiredPlaces(sound));
  if (place === undefined) return undefined;
  const { name, type } = place.field;
  const empty = { name: standIn(name), type, nullable: true };
  const fields = random.next() < 0.5 ? [place.field, empty] : [empty, place.field];
  return { text: `${place.name} twice`, rows: place.replace(sound, { fields, members: (holder) => holder }), twinOf: name };
};

const nulled: Change = (random, sound) => {
  const place = placeOf(
    random,
    requiredPlaces(sound).filter(({ name }) => name.includes('.') || name === 'metaData' || name === 'protocol'),
  );
  if (place === undefined) return undefined;
  const { field, name } = place;
  const filled = sound.rows.flatMap((row, index) => (isAbsent(row[topOf(name)]) ? [] : [index]));
  const only = random.next() < 0.5 ? undefined : one(random, filled);
  const members = (holder: InputRow, row: number): InputRow =>
    only === undefined || row === only ? { ...holder, [field.name]: null } : holder;
  return {
    text: `${name} is null in ${only === undefined ? 'every row' : `row ${only}`}`,
    rows: place.replace(sound, { fields: [{ ...field, nullable: true }], members }),
  };
};

const repeated: Change = (random, { schema, rows }) => {
  const row = randomInt(random, rows.length);
  return { text: `row ${row} twice`, rows: { schema, rows: [...rows, ...rows.slice(row, row + 1)] } };
};

const changes: readonly Change[] = [retyped, retyped, retyped, gone, renamed, doubled, nulled, nulled, repeated];

const struct = (name: string, type: DataType): StructType => ({ kind: 'struct', fields: [{ name, type, nullable: true }] });
const long: DataType = { kind: 'long' };
const text: DataType = { kind: 'string' };
const otherTypes: readonly [readonly [DataType, InputValue], ...(readonly [DataType, InputValue])[]] = [
  [long, 5n],
  [long, -1n],
  [text, 'text'],
  [{ kind: 'binary' }, new Uint8Array([120])],
  [{ kind: 'boolean' }, true],
  [{ kind: 'double' }, 1.5],
  [{ kind: 'decimal', precision: 20, scale: 2 }, '1.50'],
  [{ kind: 'date' }, 7],
  [{ kind: 'timestamp' }, 7n],
  [struct('x', long), { x: 1n }],
  [struct('path', text), { path: 'x' }],
  [{ kind: 'list', element: long, elementNullable: true }, [1n]],
  [{ kind: 'list', element: text, elementNullable: true }, ['x', null]],
  [{ kind: 'map', key: long, value: text, valueNullable: true }, new Map([[1n, 'x']])],
  [{ kind: 'map', key: text, value: long, valueNullable: true }, new Map([['x', 1n]])],
];

/** Columns and members of columns at every depth of structs. */
function placesIn(schema: StructType): readonly Place[] {
  return schema.fields.flatMap((field): readonly Place[] => {
    const own: Place = { name: field.name, field, replace: (rows, edit) => replacedIn(rows, field, edit) };
    const inner = field.type.kind === 'struct' ? placesIn(field.type) : [];
    const members = inner.map(
      (place): Place => ({
        name: `${field.name}.${place.name}`,
        field: place.field,
        replace: ({ schema: outer, rows }, edit) => {
          const replaced = place.replace(
            { schema: field.type as StructType, rows: rows.map((row) => (row[field.name] ?? {}) as InputRow) },
            edit,
          );
          return {
            schema: withFields(outer, field, [{ ...field, type: replaced.schema }]),
            rows: rows.map((row, index) => (isAbsent(row[field.name]) ? row : { ...row, [field.name]: replaced.rows[index] })),
          };
        },
      }),
    );
    return [own, ...members];
  });
}

/** Those that every checkpoint must have, in a file that needs them. */
function requiredPlaces({ schema, rows }: Rows): readonly Place[] {
  return placesIn(schema).filter(({ name }) => !optional.test(name) && rows.some((row) => !isAbsent(row[topOf(name)])));
}

/** Columns with many members are no likelier than others. */
function placeOf(random: Random, places: readonly Place[]): Place | undefined {
  const top = one(random, [...new Set(places.map(({ name }) => topOf(name))), 'add', 'add']);
  return one(
    random,
    places.filter(({ name }) => topOf(name) === top),
  );
}

function topOf(name: string): string {
  return name.split('.')[0] ?? '';
}

function replacedIn({ schema, rows }: Rows, field: Field, { fields, members }: FieldEdit): Rows {
  return { schema: withFields(schema, field, fields), rows: rows.map((row, index) => members(row, index)) };
}

function withFields(schema: StructType, field: Field, fields: readonly Field[]): StructType {
  return { kind: 'struct', fields: schema.fields.flatMap((other) => (other.name === field.name ? fields : [other])) };
}

function isAbsent(value: InputValue): boolean {
  return value === null || value === undefined;
}

/** What a V2 checkpoint in JSON says of a sidecar's size. */
function sayNewSize(files: TableFiles, sidecar: string, sizeInBytes: number): void {
  for (const path of files.checkpoints.filter((candidate) => candidate.endsWith('.json') && versionOf(candidate) === versionOf(sidecar))) {
    const lines = linesOf(files, path).map((line) => {
      const action = parseJson(line, path);
      const body = isJsonObject(action) ? action['sidecar'] : undefined;
      const isIt = isJsonObject(body) && typeof body['path'] === 'string' && sidecar.endsWith(body['path']);
      return isIt ? printJson({ sidecar: { ...body, sizeInBytes } }) : line;
    });
    writeBytes(files, path, `${lines.join('\n')}\n`);
  }
}

function one<Option>(random: Random, options: readonly Option[]): Option | undefined {
  return options.length === 0 ? undefined : options[randomInt(random, options.length)];
}
