import { isJsonObject, type JsonObject, type JsonValue, parseJson, printJson } from '../../../src/base/bigint-json.ts';
import { type Random, randomInt } from '../../../src/base/random.ts';
import { type Damage, pick } from './damage.ts';
import { linesOf, type TableFiles, versionOf, writeBytes } from './table-files.ts';

/** Beside the table: a data file that no relative path may reach. */
export const outsideFile = '../outside/secret.parquet';

/** Damages the actions of one commit: their lines, their fields, their paths. */
export function damageActions(random: Random, files: TableFiles): Damage | undefined {
  const path = pick(random, files.commits);
  if (path === undefined) return undefined;
  const lines = [...linesOf(files, path)];
  const at = randomInt(random, lines.length);
  const line = lines[at] ?? '{}';
  const write = (text: string, verdict: Damage['verdict'], changed: readonly string[]): Damage => {
    writeBytes(files, path, `${changed.join('\n')}\n`);
    // A commit that a checkpoint stands for need not be read.
    const unread = versionOf(path) <= files.checkpointVersion;
    return { text: `${path} line ${at + 1}: ${text}`, verdict: unread && verdict === 'refused' ? 'same-or-refused' : verdict };
  };
  const replaced = (text: string, verdict: Damage['verdict'], action: string): Damage => write(text, verdict, lines.with(at, action));
  switch (randomInt(random, 10)) {
    case 0:
      return write('twice', 'same-or-refused', [...lines, line]);
    case 1:
      return write('all in another order', 'same-or-refused', shuffled(random, lines));
    case 2:
      return write('with unknown actions and fields', 'same', [
        ...lines,
        '{"sparkle":{"a":[1,{"b":null}]}}',
        '{"commitSparkle":{"deep":1e400}}',
      ]);
    case 3:
      return replaced('nested deeply', 'anything', nestedDeeply(random, line));
    case 4:
    case 5:
      return outside(random, lines, write);
    case 6:
      return replaced('its statistics are nonsense', 'same', withStats(random, line));
    default: {
      const action = parseJson(line, 'a line');
      const paths = pathsOf(action, []);
      const target = pick(random, paths) ?? [];
      const value = pick(random, strangeValues(action, pick(random, paths) ?? []));
      return replaced(
        `${target.join('.')} is ${printJson(value ?? null).slice(0, 60)}`,
        'anything',
        printJson(withValue(action, target, value)),
      );
    }
  }
}

/** A schema or a field of a hundred thousand levels. */
function nestedDeeply(random: Random, line: string): string {
  const depth = pick(random, [200, 5000, 100_000]) ?? 0;
  const action = parseJson(line, 'a line');
  const metadata = isJsonObject(action) ? action['metaData'] : undefined;
  if (isJsonObject(metadata)) {
    const open = '{"type":"struct","fields":[{"name":"a","nullable":true,"metadata":{},"type":'.repeat(depth);
    const schema = `${open}"long"${'}]}'.repeat(depth)}`;
    return printJson({ metaData: { ...metadata, schemaString: schema } });
  }
  return line.replace(/\}\}$/, `,"extra":${'['.repeat(depth)}${']'.repeat(depth)}}}`);
}

/** Every spelling of a way out of the table but an absolute URI, which shallow clones have. */
function outside(
  random: Random,
  lines: readonly string[],
  write: (text: string, verdict: Damage['verdict'], changed: readonly string[]) => Damage,
): Damage {
  const spellings = [
    outsideFile,
    `x/../${outsideFile}`,
    './../outside/secret.parquet',
    '%2e%2e/outside/secret.parquet',
    '%2E%2E%2Foutside%2Fsecret.parquet',
    '..%2foutside/secret.parquet',
    '..\\outside\\secret.parquet',
    `/${'../'.repeat(30)}etc/passwd`,
    '/etc/passwd',
    'x\u0000/../../etc/passwd',
    '~/.profile',
    '*.parquet',
    '',
    '.',
  ];
  const spelling = pick(random, spellings) ?? '';
  const at = lines.findIndex((line) => line.startsWith('{"add"'));
  const action = parseJson(lines[at] ?? '{}', 'a line');
  const add = isJsonObject(action) ? action['add'] : undefined;
  if (!isJsonObject(add)) return write('nothing added', 'anything', lines);
  // A file more, not another one: whatever becomes of the rest of the log, it is live.
  return write(`adds ${JSON.stringify(spelling)}`, 'refused', [
    ...lines,
    printJson({ add: { ...add, path: spelling, deletionVector: undefined } }),
  ]);
}

function withStats(random: Random, line: string): string {
  const action = parseJson(line, 'a line');
  const add = isJsonObject(action) ? action['add'] : undefined;
  if (!isJsonObject(add)) return line;
  const stats = pick(random, ['', '{', 'null', '[1]', '{"minValues":5,"maxValues":[],"nullCount":"x"}', '{"nullCount":{"id":-1e300}}']);
  return printJson({ add: { ...add, stats: stats ?? '' } });
}

/** Values of other types, out of range, or those of another field. */
function strangeValues(action: JsonValue, other: readonly string[]): readonly JsonValue[] {
  return [
    null,
    '',
    'x'.repeat(100_000),
    -1,
    1.5,
    2 ** 31,
    2 ** 53,
    10n ** 30n,
    true,
    [],
    {},
    ['x'],
    { x: 1 },
    '../../../../etc/passwd',
    '\u0000',
    '{"type":"struct","fields":[]}',
    valueAt(action, other) ?? null,
  ];
}

function pathsOf(value: JsonValue, above: readonly string[]): readonly (readonly string[])[] {
  if (!isJsonObject(value)) return [above];
  return [
    ...(above.length === 0 ? [] : [above]),
    ...Object.entries(value).flatMap(([name, member]) => pathsOf(member ?? null, [...above, name])),
  ];
}

function valueAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  return isJsonObject(value) ? valueAt(value[name], rest) : undefined;
}

/** `undefined` takes the member away. */
function withValue(value: JsonValue, path: readonly string[], replacement: JsonValue | undefined): JsonValue {
  const [name, ...rest] = path;
  if (name === undefined || !isJsonObject(value)) return replacement ?? null;
  const members: JsonObject = { ...value, [name]: rest.length === 0 ? replacement : withValue(value[name] ?? null, rest, replacement) };
  return members;
}

function shuffled(random: Random, lines: readonly string[]): readonly string[] {
  return lines
    .map((line) => ({ line, order: random.next() }))
    .sort((a, b) => a.order - b.order)
    .map(({ line }) => line);
}
