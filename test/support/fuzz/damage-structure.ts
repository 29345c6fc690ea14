import { type Random, randomInt } from '../../../src/base/random.ts';
import type { Damage } from './damage.ts';
import { linesOf, readBytes, type TableFiles, writeBytes } from './table-files.ts';

type Damager = (random: Random, files: TableFiles) => Damage | undefined;

/**
 * Damages what is well formed into what is well formed and means nothing: an action that is no object, a Parquet file in the place of another
 * one. No row may go unseen: the rows are the same, because the damage is superseded or not read, or the table is refused.
 */
export function damageStructure(random: Random, files: TableFiles): Damage | undefined {
  return one(random, damagers)(random, files);
}

const shapes = ['"text"', '5', 'true', '[]', '[{"path":"x"}]', '-1.5', '""'] as const;

/** Every known action but notes about the commit counts for rows. */
const shapeOfAction: Damager = (random, files) => {
  if (files.commits.length === 0) return undefined;
  const path = one(random, files.commits);
  const lines = linesOf(files, path);
  const at = randomInt(random, lines.length);
  const name = /^\{"(\w+)":/.exec(lines[at] ?? '')?.[1];
  if (name === undefined) return undefined;
  const shape = one(random, shapes);
  writeBytes(files, path, `${lines.with(at, `{"${name}":${shape}}`).join('\n')}\n`);
  return { text: `${path} line ${at + 1}: ${name} is ${shape}`, verdict: 'same-or-refused' };
};

const halfOfPair: Damager = (random, files) => {
  if (files.commits.length === 0) return undefined;
  const path = one(random, files.commits);
  const text = readBytes(files, path).toString('utf8').replace('"path":"', '"path":"\\ud800');
  writeBytes(files, path, text);
  return { text: `${path}: a path with half of a surrogate pair`, verdict: 'same-or-refused' };
};

const farCommit: Damager = (random, files) => {
  const name = one(random, ['00009007199254740993.json', '09223372036854775807.json', '99999999999999999999.checkpoint.parquet']);
  const first = files.commits[0];
  if (first === undefined) return undefined;
  writeBytes(files, `_delta_log/${name}`, readBytes(files, first));
  return { text: `with ${name}`, verdict: 'same-or-refused' };
};

/** A checkpoint or a sidecar that is a data file, or another checkpoint file. */
const swappedCheckpoint: Damager = (random, files) => {
  const targets = [...files.checkpoints, ...files.sidecars].filter((path) => path.endsWith('.parquet'));
  if (targets.length === 0) return undefined;
  const target = one(random, targets);
  const others = [...targets, ...files.data].filter((path) => path !== target && path.endsWith('.parquet'));
  if (others.length === 0) return undefined;
  const other = one(random, others);
  writeBytes(files, target, readBytes(files, other));
  return { text: `${target} is ${other}`, verdict: 'same-or-refused' };
};

const hintShape: Damager = (random, files) => {
  const shape = one(random, [...shapes, '{"version":{}}', '{"version":[1]}', '{"version":true,"v2Checkpoint":5}', 'null']);
  writeBytes(files, '_delta_log/_last_checkpoint', shape);
  return { text: `hint ${shape}`, verdict: 'same' };
};

const damagers = [
  shapeOfAction,
  shapeOfAction,
  shapeOfAction,
  halfOfPair,
  farCommit,
  swappedCheckpoint,
  swappedCheckpoint,
  hintShape,
] as const;

function one<Option>(random: Random, options: readonly Option[]): Option {
  const option = options[randomInt(random, options.length)];
  if (option === undefined) throw new RangeError('nothing to pick from');
  return option;
}
