import type { JsonObject } from '../../base/bigint-json.ts';
import type { EpochMs } from '../../base/clock.ts';
import { refusedDefinition } from '../definition/definition-errors.ts';
import { columnsById } from '../metadata/schema-fields.ts';
import { schemaToJson } from '../metadata/schema-json.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';
import { versionToJson } from './view-json.ts';
import { currentVersionOf, type ViewMetadata, type ViewVersion } from './view-metadata.ts';

/** A change of a view's metadata; ids are those it will have. */
export type ViewUpdate =
  | { readonly action: 'set-location'; readonly location: string }
  | { readonly action: 'set-properties'; readonly updates: Readonly<Record<string, string>> }
  | { readonly action: 'remove-properties'; readonly removals: readonly string[] }
  | { readonly action: 'add-schema'; readonly schema: IcebergSchema }
  | { readonly action: 'add-view-version'; readonly version: ViewVersion }
  | { readonly action: 'set-current-view-version'; readonly versionId: number };

const historySizeKey = 'version.history.num-entries';
const defaultHistorySize = 10;
/** In the REST protocol: what an update before this one has added. */
const lastAdded = -1;

/** @throws AnalysisException `ICEBERG_DEFINITION_REFUSED` for a number of versions to keep that is none. */
export function applyViewUpdates(base: ViewMetadata, updates: readonly ViewUpdate[], nowMs: EpochMs): ViewMetadata {
  let view = base;
  for (const update of updates) view = applied(view, update, nowMs);
  const added = updates.flatMap((update) => (update.action === 'add-view-version' ? [update.version.versionId] : []));
  return withoutOldVersions(view, new Set([...added, view.currentVersionId]).size);
}

function applied(view: ViewMetadata, update: ViewUpdate, nowMs: EpochMs): ViewMetadata {
  switch (update.action) {
    case 'set-location':
      return { ...view, location: update.location };
    case 'set-properties':
      return { ...view, properties: { ...view.properties, ...update.updates } };
    case 'remove-properties': {
      const removed = new Set(update.removals);
      return { ...view, properties: Object.fromEntries(Object.entries(view.properties).filter(([key]) => !removed.has(key))) };
    }
    case 'add-schema':
      return { ...view, schemas: [...view.schemas, update.schema] };
    case 'add-view-version':
      return { ...view, versions: [...view.versions, update.version] };
    case 'set-current-view-version': {
      const { versionId } = update;
      const isNew = !view.versionLog.some((entry) => entry.versionId === versionId);
      const next = { ...view, currentVersionId: versionId };
      const timestampMs = isNew ? (currentVersionOf(next)?.timestampMs ?? nowMs) : nowMs;
      return { ...next, versionLog: [...view.versionLog, { timestampMs, versionId }] };
    }
  }
}

/** Keeps the current version and the newest others. The log begins after the last version that is gone. */
function withoutOldVersions(view: ViewMetadata, atLeast: number): ViewMetadata {
  const given = view.properties[historySizeKey];
  const size = given === undefined ? defaultHistorySize : Number(given);
  if (!Number.isSafeInteger(size) || size <= 0) throw refusedDefinition(`${historySizeKey} must be positive but was ${given ?? ''}`);
  const count = Math.max(size, atLeast);
  if (view.versions.length <= count) return view;
  const others = view.versions.map(({ versionId }) => versionId).filter((id) => id !== view.currentVersionId);
  const kept = new Set([view.currentVersionId, ...others.toSorted((left, right) => right - left).slice(0, count - 1)]);
  const gone = view.versionLog.findLastIndex(({ versionId }) => !kept.has(versionId));
  return { ...view, versions: view.versions.filter(({ versionId }) => kept.has(versionId)), versionLog: view.versionLog.slice(gone + 1) };
}

/** Updates as the REST protocol has them: servers number what is added themselves. */
export function viewUpdatesToJson(updates: readonly ViewUpdate[]): readonly JsonObject[] {
  const schemas = new Set(updates.flatMap((update) => (update.action === 'add-schema' ? [update.schema.schemaId] : [])));
  const versions = new Set(updates.flatMap((update) => (update.action === 'add-view-version' ? [update.version.versionId] : [])));
  return updates.map((update): JsonObject => {
    const { action } = update;
    switch (action) {
      case 'set-location':
        return { action, location: update.location };
      case 'set-properties':
        return { action, updates: update.updates };
      case 'remove-properties':
        return { action, removals: update.removals };
      case 'add-schema':
        return { action, schema: schemaToJson(update.schema), 'last-column-id': Math.max(0, ...columnsById(update.schema).keys()) };
      case 'add-view-version': {
        const { version } = update;
        return { action, 'view-version': versionToJson(schemas.has(version.schemaId) ? { ...version, schemaId: lastAdded } : version) };
      }
      case 'set-current-view-version':
        return { action, 'view-version-id': versions.has(update.versionId) ? lastAdded : update.versionId };
    }
  });
}
