import { AnalysisException } from '../../base/analysis-exception.ts';
import { nearestName } from '../../base/nearest-name.ts';
import type { Expression } from '../../expr/expression.ts';
import { TokenStream } from '../../expr/parse/token-stream.ts';
import { type Generated, generate, isGenerator } from './generators.ts';
import type { FromTools, RelationRows } from './query-tools.ts';
import type { NameScope } from './scope.ts';
import { emptyScope } from './scope.ts';
import type { FromItem } from './select-tree.ts';
import { sourceRows } from './source-rows.ts';
import { changePoint } from './travel.ts';

type FunctionItem = Extract<FromItem, { kind: 'function' }>;

const known = ['range', 'explode', 'posexplode', 'inline', 'table_changes', 'table_changes_by_path'] as const;

/** The rows of a function in FROM. @throws AnalysisException `UNRESOLVABLE_TABLE_VALUED_FUNCTION` 42883 with the nearest name. */
export async function tableFunction(tools: FromTools, item: FunctionItem, parent: NameScope | undefined): Promise<RelationRows> {
  const name = item.name.toLowerCase();
  if (name === 'range') return rangeRows(tools, item);
  if (name === 'table_changes' || name === 'table_changes_by_path') return changeRows(tools, item, name);
  const call: Expression = { kind: 'call', name: item.name, arguments: item.arguments };
  const [argument] = item.arguments;
  if (isGenerator(call) && argument !== undefined && item.arguments.length === 1) {
    const bound = await tools.expressions.bind(argument, parent ?? emptyScope);
    const made = (sql: string): Generated => generate(item.name, bound, { sql, outer: false });
    const print = (): string => `LATERAL (SELECT ${made(tools.expressions.print(bound)).values.join(', ')})`;
    return { fields: made('').fields, print, prune: () => undefined };
  }
  const nearest = nearestName(name, known);
  throw new AnalysisException({
    errorClass: 'UNRESOLVABLE_TABLE_VALUED_FUNCTION',
    sqlState: '42883',
    message: `Could not resolve \`${item.name}\` to a table-valued function (line ${item.at.line}, column ${item.at.column}).`,
    hint: nearest === undefined ? `there are ${known.join(', ')}` : `did you mean ${nearest}?`,
    parameters: { name: `\`${item.name}\`` },
  });
}

async function rangeRows(tools: FromTools, item: FunctionItem): Promise<RelationRows> {
  if (item.arguments.length < 1 || item.arguments.length > 3) throw wrongArguments(item, '1 to 3');
  const bounds: string[] = [];
  for (const argument of item.arguments) {
    const sql = tools.expressions.print(await tools.expressions.bind(argument, emptyScope));
    bounds.push(`CAST(${sql} AS BIGINT)`);
  }
  const print = (): string => `(SELECT * FROM range(${bounds.join(', ')}))`;
  return { fields: [{ name: 'id', type: { kind: 'long' }, nullable: false }], print, prune: () => undefined };
}

async function changeRows(tools: FromTools, item: FunctionItem, name: string): Promise<RelationRows> {
  const [table, start, end, ...others] = item.arguments;
  if (table === undefined || start === undefined || others.length > 0) throw wrongArguments(item, '2 or 3');
  const text = nameText(tools, table, item);
  const parts = name === 'table_changes' ? new TokenStream(text).expectNameParts('a table') : ['delta', text];
  const from = await changePoint(tools, start);
  const until = end === undefined ? undefined : await changePoint(tools, end);
  const source = await tools.context.use({
    parts,
    changes: { start: from, ...(until === undefined ? {} : { end: until }) },
    position: item.at,
  });
  return sourceRows(source);
}

function nameText(tools: FromTools, table: Expression, item: FunctionItem): string {
  const prepared = tools.context.prepared(table);
  if (prepared.kind === 'literal' && prepared.literal.type === 'string') return prepared.literal.value;
  if (prepared.kind === 'column') return prepared.path.map((part) => `\`${part.replaceAll('`', '``')}\``).join('.');
  throw wrongArguments(item, 'the name of a table, a first and perhaps a last version or time');
}

function wrongArguments(item: FunctionItem, expected: string): AnalysisException {
  return new AnalysisException({
    errorClass: 'WRONG_NUM_ARGS.WITHOUT_SUGGESTION',
    sqlState: '42605',
    message: `The \`${item.name}\` requires ${expected} parameters but the actual number is ${item.arguments.length} (line ${item.at.line}, column ${item.at.column}).`,
    parameters: { functionName: `\`${item.name}\`` },
  });
}
