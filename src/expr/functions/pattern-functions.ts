import { AnalysisException } from '../../base/analysis-exception.ts';
import { argument, built, type EngineCall, type FunctionTable, literalInteger, literalText, scalar, types } from '../function-spec.ts';
import { sqlText } from '../sql/engine-text.ts';

/** Groups that a pattern captures. */
function groupCount(pattern: string): number {
  const plain = pattern.replace(/\\[^]/g, '').replace(/\[(?:\^?\])?[^\]]*\]/g, '');
  return [...plain.matchAll(/\((?!\?(?!P?<[A-Za-z]))/g)].length;
}

/** @throws AnalysisException `INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX` 22023 where pattern and group are known. */
function groupOf(call: EngineCall): string {
  const pattern = literalText(call.call, 1);
  const group = call.args[2] === undefined ? 1n : literalInteger(call.call, 2);
  if (pattern === undefined || group === undefined) return call.args[2] ?? '1';
  const count = groupCount(pattern);
  if (group >= 0n && group <= BigInt(count)) return String(group);
  throw new AnalysisException({
    errorClass: 'INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX',
    message: `The value of parameter(s) \`idx\` in \`${call.call.name}\` is invalid: Expects group index between 0 and ${count}, but got ${group}.`,
    parameters: { parameter: '`idx`', functionName: `\`${call.call.name}\``, groupCount: String(count), groupIndex: String(group) },
  });
}

/** A replacement as the engine spells it: `$1` is a group, a backslash takes the next character as it is. */
function replacementSql(call: EngineCall): string {
  const text = literalText(call.call, 2);
  // Of a computed one only the groups are translated.
  if (text === undefined) return `regexp_replace(${argument(call, 2)}, '\\$([0-9])', '\\\\\\1', 'g')`;
  const translated = text.replace(/\\([^])|\$(\d)|\\/g, (whole: string, escaped: string | undefined, group: string | undefined) => {
    if (group !== undefined) return `\\${group}`;
    return (escaped ?? whole) === '\\' ? '\\\\' : (escaped ?? whole);
  });
  return sqlText(translated);
}

function replaceSql(call: EngineCall): string {
  const [text, pattern, from] = [argument(call, 0), argument(call, 1), call.args[3]];
  const replaced = (part: string): string => `regexp_replace(${part}, ${pattern}, ${replacementSql(call)}, 'g')`;
  if (from === undefined) return replaced(text);
  return `left(${text}, greatest(${from} - 1, 0)) || ${replaced(`substring(${text}, greatest(${from}, 1))`)}`;
}

/** NULL where the group is. */
function ofGroup(call: EngineCall, sql: string): string {
  return call.args[2] === undefined ? sql : `CASE WHEN ${call.args[2]} IS NOT NULL THEN ${sql} END`;
}

/** A group that takes no part in a match is empty. */
function extractAllSql(call: EngineCall): string {
  const found = `regexp_extract_all(${argument(call, 0)}, ${argument(call, 1)}, ${groupOf(call)})`;
  return ofGroup(call, `list_transform(${found}, lambda "__found": coalesce("__found", ''))`);
}

/** Functions of regular expressions: RE2's, which have no back references and no look-around. */
export const patternFunctions: FunctionTable = {
  regexp_replace: built(['string', 'string', 'string', 'integer?'], replaceSql, types.string),
  regexp_extract: built(
    ['string', 'string', 'integer?'],
    (call) => ofGroup(call, `regexp_extract(${argument(call, 0)}, ${argument(call, 1)}, ${groupOf(call)})`),
    types.string,
  ),
  regexp_extract_all: built(['string', 'string', 'integer?'], extractAllSql, {
    kind: 'list',
    element: types.string,
    elementNullable: true,
  }),
  regexp_instr: scalar(
    ['string', 'string', 'string?'],
    (text, pattern) =>
      `CASE WHEN regexp_matches(${text}, ${pattern}) THEN CAST(length(regexp_extract(${text}, '(?s)^(.*?)(?:' || ${pattern} || ')', 1)) + 1 AS INTEGER) WHEN ${text} IS NOT NULL AND ${pattern} IS NOT NULL THEN 0 END`,
    types.integer,
  ),
  regexp_count: scalar(
    ['string', 'string'],
    (text, pattern) => `CAST(len(regexp_extract_all(${text}, ${pattern})) AS INTEGER)`,
    types.integer,
  ),
  regexp_substr: scalar(
    ['string', 'string'],
    (text, pattern) => `CASE WHEN regexp_matches(${text}, ${pattern}) THEN nullif(regexp_extract(${text}, ${pattern}, 0), '') END`,
    types.string,
  ),
};
