import { isJsonObject, type JsonValue } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { HttpAnswer } from '../../base/http-exchange.ts';
import type { StorageProperties } from '../../base/storage-settings.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../../iceberg/pointer/table-pointer.ts';
import type { NameChange, TableIdent } from '../../table/table-ident.ts';
import { schemaNotFound, tableExists } from '../../table/table-names.ts';
import type { IcebergNames } from '../iceberg-names.ts';
import { fileSettingsIn } from './file-settings.ts';
import { type RestClient, tableEndpoint } from './rest-client.ts';
import { failureIn, invalidAnswer, restError } from './rest-errors.ts';
import { changeName, identJson, nameIn } from './rest-identifiers.ts';
import { commitBody, RestTablePointer, type StagedTable } from './rest-table-pointer.ts';
import { RestViews } from './rest-views.ts';

const namespacesEndpoint = '/v1/{prefix}/namespaces';
const namespaceEndpoint = '/v1/{prefix}/namespaces/{namespace}';
const tablesEndpoint = '/v1/{prefix}/namespaces/{namespace}/tables';
const registerEndpoint = '/v1/{prefix}/namespaces/{namespace}/register';
const renameEndpoint = '/v1/{prefix}/tables/rename';
const transactionEndpoint = '/v1/{prefix}/transactions/commit';
const statusNotFound = 404;
const statusConflict = 409;
const firstFailure = 400;

/** The names of a REST catalog. Files are the server's business: it chooses locations and deletes what is purged. */
export class RestNames implements IcebergNames {
  readonly views: RestViews;
  readonly #client: RestClient;
  readonly #nameOf: (ident: TableIdent) => string;
  /** What the server has handed out for tables that are about to be made. */
  readonly #staged = new Map<string, StagedTable>();

  constructor(parts: { readonly client: RestClient; readonly nameOf: (ident: TableIdent) => string }) {
    this.#client = parts.client;
    this.#nameOf = parts.nameOf;
    this.views = new RestViews(parts.client);
  }

  async namespaces(within: readonly string[], signal?: AbortSignal): Promise<readonly (readonly string[])[] | undefined> {
    const { namespaceSeparator } = await this.#client.config();
    const query = { parent: within.length === 0 ? undefined : within.join(namespaceSeparator) };
    const found = await this.#client.list({ endpoint: namespacesEndpoint, query, expected: [statusNotFound] }, 'namespaces', signal);
    return found?.map(levelsOf);
  }

  async hasNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const names = { namespace };
    const { status } = await this.#client.request(
      { method: 'GET', endpoint: namespaceEndpoint, names, expected: [statusNotFound] },
      signal,
    );
    return status !== statusNotFound;
  }

  async createNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<boolean> {
    const body = { namespace, properties: {} };
    const request = { method: 'POST', endpoint: namespacesEndpoint, body, writes: true, expected: [statusConflict] } as const;
    return (await this.#client.request(request, signal)).status !== statusConflict;
  }

  async dropNamespace(namespace: readonly string[], signal?: AbortSignal): Promise<'dropped' | 'absent' | 'not-empty'> {
    const names = { namespace };
    const expected = [statusNotFound, statusConflict, firstFailure];
    const request = { method: 'DELETE', endpoint: namespaceEndpoint, names, writes: true, expected } as const;
    const { status, body } = await this.#client.request(request, signal);
    if (status === statusNotFound) return 'absent';
    if (status < firstFailure) return 'dropped';
    const failure = failureIn(status, body);
    // Servers before the status was specified say 400.
    if (status === statusConflict || failure.type === 'NamespaceNotEmptyException') return 'not-empty';
    throw restError(failure, { shown: `DELETE of namespace ${namespace.join('.')}`, writes: true });
  }

  async tables(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    const request = { endpoint: tablesEndpoint, names: { namespace }, expected: [statusNotFound] };
    const found = await this.#client.list(request, 'identifiers', signal);
    return found?.map((entry) => nameIn(entry, tablesEndpoint));
  }

  pointer(ident: TableIdent): TablePointer {
    const key = keyOf(ident);
    const staged = this.#staged.get(key);
    this.#staged.delete(key);
    return new RestTablePointer({ name: this.#nameOf(ident), ident, client: this.#client, staged });
  }

  /** Asks the server to stage a table, which it forgets: that tells where it would put it, and with what its files may be written. */
  async locationOf(ident: TableIdent, wanted: string | undefined, signal?: AbortSignal): Promise<string> {
    const answer = await this.#stage(ident, wanted, signal);
    if (answer.status === statusNotFound) throw schemaNotFound(ident.namespace);
    // A table that is to be replaced is there; only its new place is the user's choice.
    if (answer.status === statusConflict && wanted !== undefined) return wanted;
    if (answer.status === statusConflict) throw tableExists([...ident.namespace, ident.name]);
    const metadata = isJsonObject(answer.body) ? answer.body['metadata'] : undefined;
    const location = isJsonObject(metadata) ? metadata['location'] : undefined;
    if (typeof location !== 'string') throw invalidAnswer(`staging of ${this.#nameOf(ident)}`, 'has no location');
    const again = async (): Promise<StorageProperties> => {
      const other = await this.#stage(ident, location);
      if (other.status >= firstFailure)
        throw restError(failureIn(other.status, other.body), { shown: `POST ${tablesEndpoint}`, writes: false });
      return await this.#settingsIn(other, location);
    };
    this.#staged.set(keyOf(ident), { fileSettings: await this.#settingsIn(answer, location), again });
    return location;
  }

  async #stage(ident: TableIdent, location: string | undefined, signal?: AbortSignal): Promise<HttpAnswer> {
    const names = { namespace: ident.namespace };
    const schema = { type: 'struct', 'schema-id': 0, fields: [] };
    const body = { name: ident.name, location, schema, 'stage-create': true, properties: {} };
    const request = { method: 'POST', endpoint: tablesEndpoint, names, body, expected: [statusNotFound, statusConflict] } as const;
    return await this.#client.request(request, signal);
  }

  async #settingsIn({ body }: HttpAnswer, location: string): Promise<StorageProperties> {
    return isJsonObject(body) ? fileSettingsIn(await this.#client.config(), body, location) : {};
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<NameChange> {
    const body = { source: identJson(from), destination: identJson(to) };
    return await changeName(this.#client, { endpoint: renameEndpoint, body }, to.namespace, signal);
  }

  /**
   * Changes several tables in one step, where the server can.
   *
   * @throws ServiceError `REST_CATALOG_UNSUPPORTED`, and as the client.
   */
  async commitTogether(
    changes: readonly { readonly ident: TableIdent; readonly base: LoadedMetadata; readonly change: MetadataChange }[],
    signal?: AbortSignal,
  ): Promise<Exclude<SwapOutcome, { readonly kind: 'committed' }> | { readonly kind: 'committed' }> {
    const body = { 'table-changes': changes.map(({ ident, base, change }) => commitBody(ident, base, change)) };
    try {
      const request = { method: 'POST', endpoint: transactionEndpoint, body, writes: true, expected: [statusConflict] } as const;
      const answer = await this.#client.request(request, signal);
      if (answer.status !== statusConflict) return { kind: 'committed' };
      return { kind: 'conflicted', reason: failureIn(answer.status, answer.body).message };
    } catch (error) {
      if (isServiceError(error, 'unknown-outcome')) return { kind: 'unknown', cause: error };
      throw error;
    }
  }

  async drop(ident: TableIdent, options: { readonly purge: boolean }, signal?: AbortSignal): Promise<boolean> {
    const names = { namespace: ident.namespace, table: ident.name };
    const query = { purgeRequested: String(options.purge) };
    const request = { method: 'DELETE', endpoint: tableEndpoint, names, query, writes: true, expected: [statusNotFound] } as const;
    return (await this.#client.request(request, signal)).status !== statusNotFound;
  }

  async register({ namespace, name }: TableIdent, metadataLocation: string, signal?: AbortSignal): Promise<NameChange> {
    const body = { name, 'metadata-location': metadataLocation };
    return await changeName(this.#client, { endpoint: registerEndpoint, names: { namespace }, body }, namespace, signal);
  }

  async close(): Promise<void> {
    await Promise.resolve();
  }
}

function keyOf(ident: TableIdent): string {
  return [...ident.namespace, ident.name].join('\u0000');
}

function levelsOf(value: JsonValue): readonly string[] {
  if (!Array.isArray(value)) throw invalidAnswer(`GET ${namespacesEndpoint}`, 'has a namespace that is no list');
  return value.map(String);
}
