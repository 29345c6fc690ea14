import type { DeleteWhen } from '../ingest/keyed/deleted-keys.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import { isTransform } from '../ingest/transform/transform-settings.ts';
import type { OnTruncate } from '../protocol/sealed-batch.ts';
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
  const { deleteWhen, patches, onTruncate } = keyedSettingsOf(keyed, route);
  const found: (readonly [string, string])[] = [];
  if (table.definition.properties['delta.appendOnly']?.toLowerCase() === 'true')
    found.push(['properties', 'delta.appendOnly forbids what mode upsert does: old rows end']);
  found.push(...imageProblems(table, keyed));
  if (route.value.kind === 'letter') found.push(['mode', 'dead letters have no keys; their table is of mode append']);
  if (route.at.at(-1) === 'template')
    found.push(['mode', 'tables that a template makes are of mode append, as the one they are made like']);
  if (deleteWhen.kind === 'operation' && route.value.envelope !== 'debezium')
    found.push(['deleteWhen', 'operation is that of a change event, and the route has no value.envelope: debezium']);
  found.push(...orderProblems(table, keyed, route));
  if (keyed.tombstones !== undefined && deleteWhen.kind === 'never')
    found.push(['tombstoneRetention', 'is how long deletes are remembered, and no record deletes a key: set deleteWhen']);
  if (patches && isTransform(route)) found.push(['mode', 'patch does not go together with columns, select, where or expect of the route']);
  if (patches && route.value.kind !== 'json' && route.value.kind !== 'connect-json')
    found.push([
      'mode',
      `patch takes members that are not there, and payloads of format ${route.value.kind} have all of them; take upsert`,
    ]);
  if (onTruncate !== 'reject') found.push(...truncateProblems(onTruncate, deleteWhen, route));
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

/** Derived images take the place of those that a change feed stores beside deletion vectors. */
function imageProblems(
  { definition: { properties } }: TableSettings,
  { changeImages }: KeyedTableSettings,
): readonly (readonly [key: string, message: string])[] {
  if (changeImages !== 'derived') return [];
  return ['delta.enableChangeDataFeed', 'delta.enableDeletionVectors']
    .filter((name) => properties[name]?.toLowerCase() === 'false')
    .map((name) => ['changeImages', `derived changes nothing of a table with ${name}: false; leave one of the two out`]);
}

function truncateProblems(
  onTruncate: OnTruncate,
  deleteWhen: DeleteWhen,
  route: RouteSettings,
): readonly (readonly [key: string, message: string])[] {
  const without = (what: string): readonly (readonly [string, string])[] => [
    ['onTruncate', `${onTruncate} does not go together with ${what}`],
  ];
  if (route.value.envelope === undefined)
    return [['onTruncate', 'is that of change events, and the route has no value.envelope: debezium']];
  if (route.divided !== undefined) return without('divide of the route: the event does not say by it which table it means');
  if (onTruncate === 'ignore') return [];
  return isTransform(route) || deleteWhen.kind === 'condition'
    ? without('columns, select, where or expect of the route, or a condition of deleteWhen')
    : [];
}

function issue(path: ConfigPath, message: string): ConfigIssue {
  return { code: 'CONFIG_INVALID', path, message };
}

/** A delete must have its own order: the row that it names is an old one, or has nothing but its key. */
function orderProblems(
  { sources }: TableSettings,
  keyed: KeyedTableSettings,
  route: RouteSettings,
): readonly (readonly [key: string, message: string])[] {
  const { orderColumns, deleteWhen } = keyedSettingsOf(keyed, route);
  const kind = deleteWhen.kind === 'operation' || deleteWhen.kind === 'tombstone' ? deleteWhen.kind : undefined;
  if (orderColumns.length === 0 || kind === undefined) return [];
  if (route.select !== undefined)
    return [['orderBy', `does not go together with the select of its route where deletes are told by ${kind}; leave one of the two out`]];
  const ofRoute = route.columns === undefined ? sources : new Map(route.columns.map(({ name, source }) => [name, source]));
  const ofRow = orderColumns.filter((name) => {
    const source = ofRoute.get(name) ?? { kind: 'value', name };
    return source.kind === 'value' && !(kind === 'operation' && source.name.startsWith('__'));
  });
  if (ofRow.length === 0) return [];
  const names = ofRow.map((name) => `"${name}"`).join(', ');
  const cure =
    kind === 'operation'
      ? 'an order of the event (`member: __lsn`, `__ts_ms`, `from: timestamp`)'
      : 'one of the record (`from: timestamp`)';
  return [['orderBy', `a delete has no value of its own in ${names}; take ${cure}`]];
}
