import type { Clock } from '../base/clock.ts';
import { isServiceError } from '../base/errors.ts';
import type { IdSource } from '../base/ids.ts';
import { CommitFailedException } from '../iceberg/transaction/commit-errors.ts';
import {
  hasLanded,
  isVersion,
  newView,
  replacingView,
  settingProperties,
  shownView,
  unsettingProperties,
} from '../iceberg/view/plan-view.ts';
import { currentVersionOf, type ViewMetadata } from '../iceberg/view/view-metadata.ts';
import type { ViewUpdate } from '../iceberg/view/view-updates.ts';
import type { CatalogView, CatalogViews, CreateViewMode, ViewDefinition } from '../table/catalog-views.ts';
import { partsOf, type TableIdent } from '../table/table-ident.ts';
import { schemaNotFound, tableExists, viewExists, viewNotFound } from '../table/table-names.ts';
import type { IcebergViewNames, LoadedView } from './iceberg-view-names.ts';

/** Tries to change a view that others change meanwhile. */
const maxTries = 5;

export interface IcebergViewsParts {
  /** Of the catalog. */
  readonly catalog: string;
  readonly names: IcebergViewNames;
  readonly hasTable: (ident: TableIdent, signal?: AbortSignal) => Promise<boolean>;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** The views of an Iceberg catalog. Nothing about them is remembered: each use looks them up. */
export class IcebergViews implements CatalogViews {
  readonly #parts: IcebergViewsParts;

  constructor(parts: IcebergViewsParts) {
    this.#parts = parts;
  }

  async list(namespace: readonly string[], signal?: AbortSignal): Promise<readonly TableIdent[]> {
    const found = await this.#parts.names.views(namespace, signal);
    if (found === undefined) throw schemaNotFound(namespace);
    return found.toSorted().map((name) => ({ namespace, name }));
  }

  async load(ident: TableIdent, signal?: AbortSignal): Promise<CatalogView | undefined> {
    const { catalog, names } = this.#parts;
    const loaded = await names.load(ident, signal);
    return loaded === undefined ? undefined : shownView(loaded.metadata, [catalog, ...partsOf(ident)]);
  }

  async create(ident: TableIdent, definition: ViewDefinition, mode: CreateViewMode, signal?: AbortSignal): Promise<void> {
    const { catalog, names, clock } = this.#parts;
    const replaces = mode === 'replace' || mode === 'create-or-replace';
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const base = replaces ? await names.load(ident, signal) : undefined;
      if (base !== undefined) {
        const updates = replacingView(base.metadata, definition, { catalog, nowMs: clock.now() });
        if (await this.#changed(ident, base, updates, signal)) return;
        continue;
      }
      if (mode === 'replace') throw viewNotFound(partsOf(ident));
      if ((await this.#made(ident, definition, signal)) || mode === 'create-if-absent') return;
      const isTable = await this.#parts.hasTable(ident, signal);
      if (isTable || mode === 'create') throw isTable ? tableExists(partsOf(ident)) : viewExists(partsOf(ident));
    }
    throw changedMeanwhile(ident);
  }

  async setProperties(ident: TableIdent, properties: Readonly<Record<string, string>>, signal?: AbortSignal): Promise<void> {
    await this.#change(ident, () => settingProperties(properties), signal);
  }

  async unsetProperties(
    ident: TableIdent,
    keys: readonly string[],
    { ifExists }: { readonly ifExists: boolean },
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#change(ident, (base) => unsettingProperties(base, keys, { name: partsOf(ident).join('.'), ifExists }), signal);
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<void> {
    const outcome = await this.#parts.names.rename(from, to, signal);
    if (outcome === 'absent') throw viewNotFound(partsOf(from));
    if (outcome === 'exists') throw viewExists(partsOf(to));
  }

  async drop(ident: TableIdent, signal?: AbortSignal): Promise<boolean> {
    return await this.#parts.names.drop(ident, signal);
  }

  async #change(ident: TableIdent, plan: (base: ViewMetadata) => readonly ViewUpdate[], signal: AbortSignal | undefined): Promise<void> {
    for (let tries = 1; tries <= maxTries; tries += 1) {
      const base = await this.#parts.names.load(ident, signal);
      if (base === undefined) throw viewNotFound(partsOf(ident));
      const updates = plan(base.metadata);
      if (updates.length === 0 || (await this.#changed(ident, base, updates, signal))) return;
    }
    throw changedMeanwhile(ident);
  }

  async #changed(ident: TableIdent, base: LoadedView, updates: readonly ViewUpdate[], signal: AbortSignal | undefined): Promise<boolean> {
    try {
      return await this.#parts.names.change(ident, base, updates, signal);
    } catch (error) {
      return await this.#unlessLanded(ident, error, (found) => found.viewUuid === base.metadata.viewUuid && hasLanded(found, updates));
    }
  }

  async #made(ident: TableIdent, definition: ViewDefinition, signal: AbortSignal | undefined): Promise<boolean> {
    const { catalog, names, clock, ids } = this.#parts;
    const location = definition.location ?? (await names.locationOf(ident, signal)) ?? '';
    const view = newView(definition, { catalog, uuid: ids.uuid(), location, nowMs: clock.now() });
    try {
      return (await names.create(ident, view, { placed: definition.location !== undefined }, signal)) === 'done';
    } catch (error) {
      return await this.#unlessLanded(ident, error, (found) => {
        const [theirs, ours] = [currentVersionOf(found), currentVersionOf(view)];
        return theirs !== undefined && ours !== undefined && isVersion(theirs, ours);
      });
    }
  }

  /** Whether a change that nobody confirmed is there. @throws the error when it is not: that says nothing. */
  async #unlessLanded(ident: TableIdent, error: unknown, isOurs: (found: ViewMetadata) => boolean): Promise<boolean> {
    if (!isServiceError(error, 'unknown-outcome')) throw error;
    const found = await this.#parts.names.load(ident).catch(() => undefined);
    if (found !== undefined && isOurs(found.metadata)) return true;
    throw error;
  }
}

function changedMeanwhile(ident: TableIdent): CommitFailedException {
  return new CommitFailedException(partsOf(ident).join('.'), 'the view was updated concurrently');
}
