import { maskInResults, shownValue } from '../../base/redaction.ts';
import { type CommandResult, resultSchema } from '../commands/command-result.ts';
import type { Statement } from '../statements/statement.ts';
import type { StatementContext } from './statement-context.ts';

type Kind<K extends Statement['kind']> = Extract<Statement, { readonly kind: K }>;

const schema = resultSchema({ key: 'string', value: 'string' });

/** SET: all entries, one entry, or a new value. */
export function setEntry({ runtime }: StatementContext, { key, value }: Kind<'set'>): CommandResult {
  if (key === undefined)
    return { schema, rows: runtime.conf.entries().map(([name, text]) => ({ key: name, value: shownValue(name, text, maskInResults) })) };
  if (value !== undefined) runtime.conf.set(key, value);
  return { schema, rows: [{ key, value: shownValue(key, runtime.conf.find(key) ?? '<undefined>', maskInResults) }] };
}

/** RESET: forgets one entry, or all that may change while the session runs. */
export function resetEntry({ runtime }: StatementContext, { key }: Kind<'reset'>): CommandResult {
  const changeable = runtime.conf
    .entries()
    .filter(([name]) => !name.startsWith('spark.sql.catalog.') && !name.startsWith('tidewater.engine.'));
  for (const [name] of changeable) if (key === undefined || name === key) runtime.conf.unset(name);
  return { schema: { kind: 'struct', fields: [] }, rows: [] };
}
