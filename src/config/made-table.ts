import { mayMake } from '../ingest/divide/made-name.ts';
import type { RouteSettings } from '../ingest/settings.ts';
import type { Config } from './settings.ts';
import type { TableSettings } from './table-settings.ts';

/** A table of this name as a template would make it, and the route of its records; `undefined`: none would, or the configuration lists it. */
export function madeTable(
  { tables, ingest }: Pick<Config, 'tables' | 'ingest'>,
  name: string,
): { readonly settings: TableSettings; readonly route: RouteSettings } | undefined {
  if (tables.some((table) => table.name === name)) return undefined;
  const route = ingest.routes.find(({ table, divided }) => {
    const template = divided?.spec.template;
    return template?.like === table && mayMake(template.table, name);
  });
  const pattern = tables.find((table) => table.name === route?.table);
  return route === undefined || pattern === undefined ? undefined : { settings: madeLike(pattern, name), route };
}

/** The same but for its name and place, which is beside it. */
export function madeLike(pattern: TableSettings, name: string): TableSettings {
  const { inCatalog, location } = pattern;
  const beside = withoutSlash(location).slice(0, -lastPart(location).length) + name;
  return { ...pattern, name, location: beside, inCatalog: inCatalog === undefined ? undefined : { ...inCatalog, table: name } };
}

/** Names that the tables of the configuration take: their own, and the last part of where they lie. */
export function takenNames({ tables }: Pick<Config, 'tables'>): readonly string[] {
  return tables.flatMap(({ name, location }) => [name, lastPart(location)]);
}

/** Of a directory, a URI, or a name in a catalog. */
function lastPart(location: string): string {
  const whole = withoutSlash(location);
  return whole.slice(whole.lastIndexOf(whole.includes('/') ? '/' : '.') + 1);
}

function withoutSlash(location: string): string {
  return location.replace(/\/+$/u, '');
}
