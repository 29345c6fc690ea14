import { isJsonObject, type JsonObject } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { HttpAnswer } from '../../base/http-exchange.ts';
import type { StorageProperties } from '../../base/storage-settings.ts';
import { sameOrder, sameSchema, sameSpec } from '../../iceberg/metadata/definition-draft.ts';
import type { MetadataUpdate } from '../../iceberg/metadata/metadata-updates.ts';
import { tableMetadataFromJson } from '../../iceberg/metadata/read-table-metadata.ts';
import { requirementToJson } from '../../iceberg/metadata/requirements.ts';
import type { TableMetadata } from '../../iceberg/metadata/table-metadata.ts';
import { updateToJson } from '../../iceberg/metadata/updates-json.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../../iceberg/pointer/table-pointer.ts';
import { namedPlaces } from '../../iceberg/table-roots.ts';
import { credentialsEndMs, holdsCredentials } from '../../storage/s3/s3-settings.ts';
import { VendedSettings } from '../../storage/vended-settings.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import { schemaNotFound } from '../../table/table-names.ts';
import { askForSettings, settingsNotRenewed } from './ask-for-settings.ts';
import { fileSettingsIn } from './file-settings.ts';
import { type RestClient, tableEndpoint } from './rest-client.ts';
import { failureIn, invalidAnswer, outcomeUnknown, restError } from './rest-errors.ts';

const statusNotModified = 304;
const statusNotFound = 404;
const statusConflict = 409;
const statusInvalid = 400;

/** What a server has handed out for a table that is about to be made. */
export interface StagedTable {
  readonly fileSettings: StorageProperties;
  readonly again: () => Promise<StorageProperties>;
}

/** A table of a REST catalog: the server applies changes and writes the metadata files. */
export class RestTablePointer implements TablePointer {
  readonly name: string;
  readonly singleWriterOnly = undefined;
  readonly fileSettings: VendedSettings;
  readonly #client: RestClient;
  readonly #ident: TableIdent;
  /** The server's mark of a state it has handed out. */
  readonly #tags = new WeakMap<LoadedMetadata, string>();
  /** Where the files are that settings are asked for. */
  #location = '';

  constructor(parts: {
    readonly name: string;
    readonly ident: TableIdent;
    readonly client: RestClient;
    /** Of a table that is about to be made: what was handed out for it, and asks for it again. */
    readonly staged?: StagedTable | undefined;
  }) {
    const { name, ident, client, staged } = parts;
    this.name = name;
    this.#client = client;
    this.#ident = ident;
    this.fileSettings = new VendedSettings({
      ask: (newest) => this.#ask(newest, staged),
      renews: client.renewsCredentials,
      clock: client.clock,
    });
    if (staged !== undefined) this.fileSettings.offer(staged.fileSettings);
  }

  /** What the catalog hands out is its own word, the metadata too. */
  ownPlaces({ metadata }: LoadedMetadata): readonly string[] {
    return namedPlaces(metadata);
  }

  async load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined> {
    // Nobody says when such credentials end: the server is asked for the table as a whole again and again, and others come with it.
    const endless = holdsCredentials(this.fileSettings.newest) && credentialsEndMs(this.fileSettings.newest) === undefined;
    const tag = known === undefined || endless ? undefined : this.#tags.get(known);
    const answer = await this.#client.request(
      {
        method: 'GET',
        endpoint: tableEndpoint,
        names: this.#names(),
        headers: tag === undefined ? undefined : { 'If-None-Match': tag },
        expected: [statusNotFound],
      },
      signal,
    );
    if (answer.status === statusNotFound) return undefined;
    if (answer.status === statusNotModified && known !== undefined) return known;
    const loaded = this.#loadedFrom(answer, known, `GET of table ${this.name}`);
    // The answer to a commit has no such settings.
    if (isJsonObject(answer.body)) this.fileSettings.offer(fileSettingsIn(await this.#client.config(), answer.body, this.#location));
    return loaded;
  }

  async swap(base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> {
    const refusal = await change.prove?.();
    if (refusal !== undefined) return refusal;
    let answer: HttpAnswer;
    try {
      answer = await this.#client.request(
        {
          method: 'POST',
          endpoint: tableEndpoint,
          names: this.#names(),
          body: commitBody(this.#ident, base, change),
          writes: true,
          expected: [statusInvalid, statusNotFound, statusConflict],
        },
        signal,
      );
    } catch (error) {
      if (isServiceError(error, 'unknown-outcome')) return { kind: 'unknown', cause: error };
      throw error;
    }
    const { status, body } = answer;
    if (status >= statusInvalid) return this.#refusal(base, failureIn(status, body));
    try {
      return { kind: 'committed', loaded: this.#loadedFrom(answer, undefined, `commit to ${this.name}`) };
    } catch (error) {
      // The server says that it is done, in words we do not understand.
      return { kind: 'unknown', cause: outcomeUnknown(`commit to ${this.name}`, error) };
    }
  }

  #refusal(base: LoadedMetadata | undefined, failure: ReturnType<typeof failureIn>): SwapOutcome {
    const { status, type, message } = failure;
    if (status === statusConflict || (status === statusInvalid && /commit validation failed/i.test(message))) {
      return { kind: 'conflicted', reason: message };
    }
    if (status === statusNotFound) {
      if (type === 'NoSuchNamespaceException') throw schemaNotFound(this.#ident.namespace);
      // Dropped meanwhile: whoever loads it again learns that.
      if (base !== undefined) return { kind: 'conflicted', reason: message };
    }
    throw restError(failure, { shown: `commit to ${this.name}`, writes: true });
  }

  #loadedFrom({ body, headers }: HttpAnswer, known: LoadedMetadata | undefined, shown: string): LoadedMetadata {
    if (!isJsonObject(body)) throw invalidAnswer(shown, 'is no object');
    const location = body['metadata-location'];
    const metadataLocation = typeof location === 'string' ? location : undefined;
    const unchanged = known !== undefined && metadataLocation !== undefined && known.metadataLocation === metadataLocation;
    const loaded = unchanged ? known : { metadata: tableMetadataFromJson(body['metadata'], metadataLocation ?? shown), metadataLocation };
    const tag = headers.get('etag');
    if (tag !== null) this.#tags.set(loaded, tag);
    this.#location = metadataLocation ?? loaded.metadata.location;
    return loaded;
  }

  async #ask(newest: StorageProperties, staged: StagedTable | undefined): Promise<StorageProperties> {
    try {
      // Until it is loaded or committed there may be no such table.
      const settings =
        this.#location === '' && staged !== undefined
          ? await staged.again()
          : await askForSettings(this.#client, { ident: this.#ident, location: this.#location }, newest);
      // Without any, whatever credentials the process finds about it would be used in their place.
      if (!holdsCredentials(settings)) throw invalidAnswer(`GET of the credentials of ${this.name}`, `has none for ${this.#location}`);
      return settings;
    } catch (error) {
      throw settingsNotRenewed(this.name, error);
    }
  }

  #names(): { readonly namespace: readonly string[]; readonly table: string } {
    return { namespace: this.#ident.namespace, table: this.#ident.name };
  }
}

/** A change of one table as the protocol has it. */
export function commitBody(ident: TableIdent, base: LoadedMetadata | undefined, change: MetadataChange): JsonObject {
  return {
    identifier: { namespace: ident.namespace, name: ident.name },
    requirements: change.requirements.map(requirementToJson),
    updates: effectiveUpdates(base?.metadata, change.updates).map(updateToJson),
  };
}

const lastAdded = -1;

/**
 * Updates without the adding of schemas, specs and orders that the table has already: Java's servers take -1 only for one that is added
 * anew, and refuse it for one that was found to be there.
 */
function effectiveUpdates(base: TableMetadata | undefined, updates: readonly MetadataUpdate[]): readonly MetadataUpdate[] {
  if (base === undefined) return updates;
  const present: Record<'schema' | 'spec' | 'order', number | undefined> = { schema: undefined, spec: undefined, order: undefined };
  return updates.flatMap((update): readonly MetadataUpdate[] => {
    switch (update.action) {
      case 'add-schema':
        present.schema =
          update.lastColumnId === base.lastColumnId ? base.schemas.find((known) => sameSchema(known, update.schema))?.schemaId : undefined;
        return present.schema === undefined ? [update] : [];
      case 'add-spec':
        present.spec = base.partitionSpecs.find((known) => sameSpec(known, update.spec))?.specId;
        return present.spec === undefined ? [update] : [];
      case 'add-sort-order':
        present.order = base.sortOrders.find((known) => sameOrder(known, update.sortOrder))?.orderId;
        return present.order === undefined ? [update] : [];
      case 'set-current-schema':
        return [{ ...update, schemaId: update.schemaId === lastAdded ? (present.schema ?? lastAdded) : update.schemaId }];
      case 'set-default-spec':
        return [{ ...update, specId: update.specId === lastAdded ? (present.spec ?? lastAdded) : update.specId }];
      case 'set-default-sort-order':
        return [{ ...update, sortOrderId: update.sortOrderId === lastAdded ? (present.order ?? lastAdded) : update.sortOrderId }];
      default:
        return [update];
    }
  });
}
