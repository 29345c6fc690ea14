import type { DataType } from '../../schema/types.ts';
import { argument, built, type FunctionSpec, type FunctionTable, scalar, types } from '../function-spec.ts';
import { typeSql } from '../sql/engine-text.ts';
import { seededFunctions } from '../sql/text-functions.ts';
import { commonArgument } from './common-argument.ts';
import { boundedArgument } from './generated-size.ts';

/**
 * Random values. A seed is refused: Spark counts the numbers of a seed through each of its partitions, and rows have neither partitions here
 * nor an order in which they would get them. In queries `rand` and `randn` count them through the rows of their input.
 */
function random(spec: FunctionSpec, seedAt: number): FunctionSpec {
  const refusedWith = (count: number): string | undefined =>
    count === seedAt + 1
      ? 'rows have neither partitions nor an order that the numbers of a seed could follow; take a hash of a key, pmod(xxhash64(id, 42), 1000) / 1000'
      : undefined;
  return { ...spec, volatile: true, refusedWith };
}

/** Every character as likely. */
const characters = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

function textSql(length = 'NULL'): string {
  const bounded = boundedArgument('randstr', 'elements', { sql: length, size: length });
  const one = `substring('${characters}', 1 + CAST(floor(random() * ${characters.length}) AS INTEGER), 1)`;
  return `array_to_string(list_transform(range(${bounded}), lambda "__place": ${one}), '')`;
}

/** Elements in the order of numbers that are drawn for them. */
function shuffleSql(list = 'NULL'): string {
  const drawn = `list_transform(${list}, lambda "__element": struct_pack(place := random(), element := "__element"))`;
  return `list_transform(list_sort(${drawn}), lambda "__drawn": struct_extract("__drawn", 'element'))`;
}

const plain = (name: string): FunctionSpec =>
  random(
    scalar(0, () => 'random()', types.double, name),
    0,
  );

/** The number of a seed at the place of a row. */
const ofPlace = (name: string, shown: string): FunctionSpec =>
  scalar(2, (seed, place) => `${name}(${seed}, ${place})`, types.double, shown);

/** Functions of chance. */
export const randomFunctions: FunctionTable = {
  '#rand': ofPlace(seededFunctions.uniform, 'rand'),
  '#randn': ofPlace(seededFunctions.normal, 'randn'),
  rand: plain('rand'),
  random: plain('rand'),
  // Box and Muller's.
  randn: random(
    scalar(0, () => '(sqrt(-2 * ln(1 - random())) * cos(2 * pi() * random()))', types.double),
    0,
  ),
  randstr: random(scalar(['integer'], textSql, types.string), 1),
  uniform: random(
    built(
      ['number', 'number'],
      (call) => {
        const [low, high] = [`CAST(${argument(call, 0)} AS DOUBLE)`, `CAST(${argument(call, 1)} AS DOUBLE)`];
        const value = `(${low} + random() * (${high} - ${low}))`;
        const type = commonArgument(call.types, call.call) ?? types.double;
        return `CAST(${type.kind === 'double' || type.kind === 'float' || type.kind === 'decimal' ? value : `trunc(${value})`} AS ${typeSql(type)})`;
      },
      (given: readonly (DataType | undefined)[], call) => commonArgument(given, call),
    ),
    2,
  ),
  shuffle: random(scalar(['list'], shuffleSql, 'first'), 1),
};
