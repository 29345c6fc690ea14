import type * as DuckdbApi from '@duckdb/node-api';
import type DuckdbBindings from '@duckdb/node-bindings';

export type Bindings = typeof DuckdbBindings;
export type Api = typeof DuckdbApi;
export type RawVector = DuckdbBindings.Vector;

/** The engine's libraries: the query interface, and the raw access to vectors that spares an object for each value. */
export interface DuckdbModules {
  readonly api: Api;
  readonly bindings: Bindings;
}

/** Loads the native library; processes that never query never do. */
export async function loadDuckdb(): Promise<DuckdbModules> {
  const [{ default: bindings }, api, { default: accessors }] = await Promise.all([
    import('@duckdb/node-bindings'),
    import('@duckdb/node-api'),
    import('@duckdb/node-api/lib/vectors/dataAccessors.js'),
  ]);
  // The library's own decoder takes a byte order mark at the beginning of a text away: keys and bounds would be those of another text.
  Object.assign(accessors, { textDecoder: new TextDecoder('utf-8', { ignoreBOM: true }) });
  return { api, bindings };
}
