import type { RouteSettings } from '../ingest/settings.ts';
import { isTransform } from '../ingest/transform/transform-settings.ts';
import type { ConfigIssue } from './config-issues.ts';
import type { ConfigPath } from './config-node.ts';
import { type KeyedTableSettings, keyedSettingsOf } from './keyed-settings.ts';
import type { Config } from './settings.ts';
import type { TableSettings } from './table-settings.ts';

/** What only the table and its route say together. */
export function keyedIssues({ tables, ingest }: Config): readonly ConfigIssue[] {
  return tables.flatMap((table, index) => {
    const { keyed } = table;
    if (keyed === undefined) return [];
    const path = ['tables', index];
    const route = ingest.routes.find((candidate) => candidate.table === table.name);
    return route === undefined
      ? [issue([...path, 'mode'], 'upsert is how records fill a table, and no route does; leave it out')]
      : routeProblems(table, keyed, route).map(([key, message]) => issue([...path, key], message));
  });
}

function routeProblems(
  table: TableSettings,
  keyed: KeyedTableSettings,
  route: RouteSettings,
): readonly (readonly [key: string, message: string])[] {
  const { deleteWhen } = keyedSettingsOf(keyed, route);
  const found: (readonly [string, string])[] = [];
  if (table.definition.properties['delta.appendOnly']?.toLowerCase() === 'true')
    found.push(['properties', 'delta.appendOnly forbids what mode upsert does: old rows end']);
  if (route.value.kind === 'letter') found.push(['mode', 'dead letters have no keys; their table is of mode append']);
  if (route.at.at(-1) === 'template')
    found.push(['mode', 'tables that a template makes are of mode append, as the one they are made like']);
  if (deleteWhen.kind === 'operation' && route.value.envelope !== 'debezium')
    found.push(['deleteWhen', 'operation is that of a change event, and the route has no value.envelope: debezium']);
  if (deleteWhen.kind !== 'tombstone') return found;
  if (route.value.envelope !== undefined) found.push(['deleteWhen', 'change events say by their operation what is deleted; leave it out']);
  else if (route.value.tombstones === 'skip')
    found.push(['deleteWhen', 'tombstone deletes by records without a value, which its route skips (value.tombstones)']);
  if (route.divided !== undefined && route.divided.spec.key.kind !== 'header')
    found.push(['deleteWhen', 'a tombstone has no value, by which its route divides records; divide them by a header']);
  if (isTransform(route)) found.push(['deleteWhen', 'tombstone does not go together with columns, select, where or expect of the route']);
  const ofValue = keyed.keyColumns.filter((name) => (table.sources.get(name)?.kind ?? 'value') === 'value');
  if (ofValue.length > 0)
    found.push(['deleteWhen', `a tombstone has only its key: ${ofValue.map((name) => `"${name}"`).join(', ')} must be \`from: key\``]);
  return found;
}

function issue(path: ConfigPath, message: string): ConfigIssue {
  return { code: 'CONFIG_INVALID', path, message };
}
