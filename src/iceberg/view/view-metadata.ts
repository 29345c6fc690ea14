import type { JsonObject } from '../../base/bigint-json.ts';
import type { IcebergSchema } from '../metadata/table-metadata.ts';

/** What a view says in one language; kinds that the specification does not have yet stay as they are. */
export type ViewRepresentation =
  | { readonly kind: 'sql'; readonly sql: string; readonly dialect: string }
  | { readonly kind: 'other'; readonly json: JsonObject };

export interface ViewVersion {
  readonly versionId: number;
  readonly schemaId: number;
  readonly timestampMs: number;
  readonly summary: Readonly<Record<string, string>>;
  readonly representations: readonly ViewRepresentation[];
  /** Of names without one. Default: the view's own. */
  readonly defaultCatalog?: string | undefined;
  readonly defaultNamespace: readonly string[];
}

export interface ViewLogEntry {
  readonly timestampMs: number;
  readonly versionId: number;
}

/** A view as its metadata file has it (https://iceberg.apache.org/view-spec/). */
export interface ViewMetadata {
  readonly viewUuid: string;
  readonly location: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly schemas: readonly IcebergSchema[];
  readonly currentVersionId: number;
  readonly versions: readonly ViewVersion[];
  /** When which version became the current one, oldest first. */
  readonly versionLog: readonly ViewLogEntry[];
}

/** The one version of the format there is. */
export const viewFormatVersion = 1;

/** What this product writes and reads. */
export const ownDialect = 'spark';

/** @throws never for metadata that was read: it has its current version and that one's schema. */
export function currentVersionOf({ versions, currentVersionId }: ViewMetadata): ViewVersion | undefined {
  return versions.find(({ versionId }) => versionId === currentVersionId);
}

export function currentSchemaOf(view: ViewMetadata): IcebergSchema | undefined {
  const id = currentVersionOf(view)?.schemaId;
  return view.schemas.find(({ schemaId }) => schemaId === id);
}

/** The text in our dialect, or in the first one there is, as other implementations read a view; `undefined`: it has no SQL. */
export function sqlOf(view: ViewMetadata): Extract<ViewRepresentation, { readonly kind: 'sql' }> | undefined {
  const texts = (currentVersionOf(view)?.representations ?? []).flatMap((each) => (each.kind === 'sql' ? [each] : []));
  return texts.find(({ dialect }) => dialect.toLowerCase() === ownDialect) ?? texts[0];
}

/** In lower case, in the order of the version. */
export function dialectsOf({ representations }: ViewVersion): readonly string[] {
  return [...new Set(representations.flatMap((each) => (each.kind === 'sql' ? [each.dialect.toLowerCase()] : [])))];
}
