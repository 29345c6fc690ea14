import type { SessionTables } from './names/session-tables.ts';

/** What functions without arguments say of a session, by their name. */
export function toldOfSession(tables: SessionTables, version: string): Readonly<Record<string, string>> {
  const namespace = tables.currentNamespace.join('.');
  return {
    current_catalog: tables.currentCatalog.name,
    current_database: namespace,
    current_schema: namespace,
    version: `tidewater ${version}`,
  };
}
