import { isServiceError } from '../../base/errors.ts';
import { parseByteSize, parseDuration } from '../../base/quantities.ts';
import { unsupported } from '../../base/unsupported-feature.ts';
import type { LiveSource, LiveTables } from '../plan/live-table.ts';
import type { TableSource } from '../plan/plan.ts';
import { invalidOption, unknownOption } from '../session-errors.ts';

/** Of readers: `load` names the table of the pipeline. */
export const liveFormat = 'tidewater-live';

/** What tells a read of a live table how far it may go. */
export const liveOptions = ['config', 'maxBytes', 'timeout', 'path'] as const;

/** @throws AnalysisException `UNKNOWN_OPTION`, `DELTA_ILLEGAL_OPTION`. */
export function liveSourceOf(table: string, options: ReadonlyMap<string, string>): LiveSource {
  const given = new Map<string, string>();
  for (const [name, value] of options) {
    const known = liveOptions.find((option) => option.toLowerCase() === name.toLowerCase());
    if (known === undefined) throw unknownOption(name, 'a live read', liveOptions);
    given.set(known, value);
  }
  const config = given.get('config');
  if (config === undefined) throw invalidOption('config', '', 'it must name the configuration file of the pipeline that writes the table');
  const parsed = (name: string, parse: (text: string) => number, expected: string): number | undefined => {
    const text = given.get(name);
    try {
      return text === undefined ? undefined : parse(text);
    } catch (error) {
      if (!isServiceError(error)) throw error;
      throw invalidOption(name, text ?? '', expected);
    }
  };
  return {
    pipeline: { kind: 'config', files: config.split(',') },
    table,
    tail: false,
    maxBytes: parsed('maxBytes', parseByteSize, 'it must be a size such as 64MiB'),
    timeoutMs: parsed('timeout', parseDuration, 'it must be a duration such as 30s'),
  };
}

/** A name that a pipeline's catalog begins; `undefined`: it means something else. @throws AnalysisException for a read that is not of the present. */
export function liveSourceNamed(live: LiveTables | undefined, source: TableSource): LiveSource | undefined {
  if (live === undefined || source.reference.kind !== 'name') return undefined;
  const [name = '', ...rest] = source.reference.parts;
  if (!live.has(name)) return undefined;
  if (source.at !== undefined || source.changes !== undefined || source.changelog !== undefined || source.appendedAfter !== undefined)
    throw unsupported(
      `a live table at another time, "${source.reference.parts.join('.')}",`,
      'read the table itself, by its catalog or path',
    );
  const tail = rest.length > 1 && rest.at(-1)?.toLowerCase() === 'tail';
  return { pipeline: { kind: 'catalog', name }, table: (tail ? rest.slice(0, -1) : rest).join('.'), tail };
}
