import { isAbsolute, resolve } from 'node:path';
import type { NameInCatalog, ReadTableRequest } from '../app/app-commands.ts';
import { type CatalogSettings, catalogConf } from '../config/catalog-settings.ts';
import { madeTable } from '../config/made-table.ts';
import { namePath } from '../session/column.ts';
import { type CommandSession, usageError } from './command-session.ts';

/** What a command reads. */
export type NamedTable = Pick<ReadTableRequest, 'name' | 'location' | 'inCatalog'>;

/** A path needs no configuration; a name does. */
export function isPath(table: string): boolean {
  return table.includes('/') || table.startsWith('.') || isUri(table);
}

export function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]+:/i.test(text);
}

/**
 * The table of a path, of a name in the configuration, or of a name in one of its catalogs: `catalog.namespace.table`.
 *
 * @param conf of a session (`key=value`), which has the catalog then in place of the configuration.
 * @throws ServiceError `USAGE_INVALID` naming what there is.
 */
export function namedTable(session: CommandSession, table: string, conf: readonly string[] = []): NamedTable {
  if (conf.length > 0) return ofCatalog(table, { parts: namePath(table), conf: confOf(conf) });
  if (isPath(table)) {
    return { name: table, location: isUri(table) || isAbsolute(table) ? table : resolve(session.environment.workingDir, table) };
  }
  const { config } = session.loadConfig();
  const { tables, catalogs } = config;
  const entry = tables.find(({ name }) => name === table) ?? madeTable(config, table)?.settings;
  if (entry?.inCatalog !== undefined) {
    const { catalog, namespace, table: name } = entry.inCatalog;
    return ofCatalog(table, nameIn(catalogs, catalog, [...namespace, name]));
  }
  if (entry !== undefined) return { name: table, location: entry.location };
  const [catalog = '', ...parts] = namePath(table);
  if (parts.length > 0 && catalogs.some(({ name }) => name === catalog)) return ofCatalog(table, nameIn(catalogs, catalog, parts));
  throw usageError(`table "${table}" is not in the configuration`, `it has: ${knownNames(tables, catalogs)}; for a path write ./${table}`);
}

/** `key=value` each, as the options of a session. */
export function confOf(entries: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    entries.map((entry) => {
      const equals = entry.indexOf('=');
      return [entry.slice(0, equals), entry.slice(equals + 1)] as const;
    }),
  );
}

function ofCatalog(name: string, inCatalog: NameInCatalog): NamedTable {
  return { name, location: name, inCatalog };
}

function nameIn(catalogs: readonly CatalogSettings[], catalog: string, parts: readonly string[]): NameInCatalog {
  const settings = catalogs.find(({ name }) => name === catalog);
  return { parts: [catalog, ...parts], conf: settings === undefined ? {} : catalogConf(settings) };
}

function knownNames(tables: readonly { readonly name: string }[], catalogs: readonly CatalogSettings[]): string {
  const names = [...tables.map(({ name }) => name), ...catalogs.map(({ name }) => `${name}.<namespace>.<table>`)];
  return names.length === 0 ? 'no tables' : names.join(', ');
}
