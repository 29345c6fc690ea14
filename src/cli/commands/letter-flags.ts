import { type Command, InvalidArgumentError } from 'commander';
import { isServiceError } from '../../base/errors.ts';
import { nearestName } from '../../base/nearest-name.ts';
import { parseDuration } from '../../base/quantities.ts';
import type { LoadedConfig } from '../../config/load-config.ts';
import { letterCures } from '../../ingest/letters/letter-cures.ts';
import type { LetterFilter } from '../../ingest/letters/read-letters.ts';
import { usageError } from '../command-session.ts';

/** Which letters are meant, as flags. */
export interface LetterFlags {
  readonly table?: string | undefined;
  readonly topic?: string | undefined;
  readonly reason?: string | undefined;
  readonly stage?: string | undefined;
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export function addLetterFlags(command: Command): Command {
  return command
    .option('--table <table>', 'only letters of this table')
    .option('--topic <topic>', 'only letters whose record came from this topic')
    .option('--reason <reason>', 'only letters with this reason, such as wrong-type')
    .option('--stage <stage>', 'only letters of records that failed there, such as VALUE_CONVERTER')
    .option('--since <time>', 'only letters written from then on: a time (2026-01-31T12:00:00Z), or how long ago (2h)', time)
    .option('--until <time>', 'only letters written before then', time);
}

/** @throws ServiceError of a reason that no letter has. */
export function filterOf({ table, topic, reason, stage, since, until }: LetterFlags): LetterFilter {
  const known = Object.keys(letterCures);
  if (reason !== undefined && !known.includes(reason))
    throw usageError(`no letter has the reason "${reason}"`, `reasons are ${known.toSorted().join(', ')}`);
  return { table, topic, reason, stage, sinceMs: since, untilMs: until };
}

/** Why there may be none, to be said behind that there are none: letters of a table that is not configured any more can be asked for. */
export function noSuchTable({ config }: LoadedConfig, { table }: LetterFlags): string {
  const names = config.tables.map(({ name }) => name);
  const isMade = config.ingest.routes.some(({ divided }) => divided?.spec.template !== undefined);
  if (table === undefined || names.includes(table) || isMade) return '';
  const nearest = nearestName(table, names);
  return `; no table is called "${table}"${nearest === undefined ? '' : `, did you mean "${nearest}"?`}`;
}

/** @throws ServiceError of a wrong command line. */
export function placeOf(text: string): { readonly partition: number; readonly offset: bigint } {
  const [, partition, offset] = /^(\d{1,9}):(\d{1,18})$/.exec(text) ?? [];
  if (partition === undefined || offset === undefined)
    throw usageError(`"${text}" is no place of a letter`, 'expected <partition>:<offset>, as tidewater dlq list prints it');
  return { partition: Number(partition), offset: BigInt(offset) };
}

/** For commander: a time, or how long ago it was, as epoch milliseconds. */
function time(text: string): number {
  const at = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(at)) return at;
  try {
    return Date.now() - parseDuration(text);
  } catch (error) {
    if (!isServiceError(error)) throw error;
    throw new InvalidArgumentError('expected a time such as 2026-01-31T12:00:00Z, a day such as 2026-01-31, or how long ago, such as 2h');
  }
}
