import { isJsonObject } from '../../base/bigint-json.ts';
import { schemaToJson } from '../../iceberg/metadata/schema-json.ts';
import { versionToJson, viewFromJson } from '../../iceberg/view/view-json.ts';
import { currentSchemaOf, currentVersionOf, type ViewMetadata } from '../../iceberg/view/view-metadata.ts';
import { type ViewUpdate, viewUpdatesToJson } from '../../iceberg/view/view-updates.ts';
import type { NameChange, TableIdent } from '../../table/table-ident.ts';
import { schemaNotFound } from '../../table/table-names.ts';
import type { IcebergViewNames, LoadedView } from '../iceberg-view-names.ts';
import type { RestClient } from './rest-client.ts';
import { invalidAnswer, unsupportedRequest } from './rest-errors.ts';
import { changeName, identJson, nameIn } from './rest-identifiers.ts';

const viewsEndpoint = '/v1/{prefix}/namespaces/{namespace}/views';
const viewEndpoint = '/v1/{prefix}/namespaces/{namespace}/views/{view}';
const renameEndpoint = '/v1/{prefix}/views/rename';
const statusNotFound = 404;
const statusConflict = 409;

/**
 * The views of a REST catalog: the server applies changes and writes the metadata files. A server without the endpoints keeps none, nor does one
 * that answers without a body: Java's does when the catalog behind it has no views.
 */
export class RestViews implements IcebergViewNames {
  readonly #client: RestClient;

  constructor(client: RestClient) {
    this.#client = client;
  }

  async views(namespace: readonly string[], signal?: AbortSignal): Promise<readonly string[] | undefined> {
    if (!(await this.#client.hasViews('GET', viewsEndpoint))) return [];
    const request = { endpoint: viewsEndpoint, names: { namespace }, expected: [statusNotFound], mayLackBody: true };
    const found = await this.#client.list(request, 'identifiers', signal);
    return found?.map((entry) => nameIn(entry, viewsEndpoint));
  }

  async load(ident: TableIdent, signal?: AbortSignal): Promise<LoadedView | undefined> {
    if (!(await this.#client.hasViews('GET', viewEndpoint))) return undefined;
    const request = { method: 'GET', endpoint: viewEndpoint, names: namesOf(ident), expected: [statusNotFound] } as const;
    const { status, body } = await this.#client.request(request, signal);
    if (status === statusNotFound || body === undefined) return undefined;
    const shown = `GET of view ${[...ident.namespace, ident.name].join('.')}`;
    if (!isJsonObject(body)) throw invalidAnswer(shown, 'is no object');
    const location = body['metadata-location'];
    const metadataLocation = typeof location === 'string' ? location : undefined;
    return { metadata: viewFromJson(body['metadata'], metadataLocation ?? shown), metadataLocation };
  }

  locationOf(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  async create(
    ident: TableIdent,
    view: ViewMetadata,
    { placed }: { readonly placed: boolean },
    signal?: AbortSignal,
  ): Promise<'done' | 'exists'> {
    const [schema, version] = [currentSchemaOf(view), currentVersionOf(view)];
    const body = {
      name: ident.name,
      ...(placed ? { location: view.location } : {}),
      schema: schema === undefined ? null : schemaToJson(schema),
      'view-version': version === undefined ? null : versionToJson(version),
      properties: view.properties,
    };
    const names = { namespace: ident.namespace };
    const expected = [statusNotFound, statusConflict];
    const request = { method: 'POST', endpoint: viewsEndpoint, names, body, writes: true, expected } as const;
    const answer = await this.#client.request(request, signal);
    if (answer.status === statusNotFound) throw schemaNotFound(ident.namespace);
    if (answer.status === statusConflict) return 'exists';
    if (answer.body === undefined) throw unsupportedRequest('views');
    return 'done';
  }

  async change(ident: TableIdent, base: LoadedView, updates: readonly ViewUpdate[], signal?: AbortSignal): Promise<boolean> {
    const body = {
      identifier: identJson(ident),
      requirements: [{ type: 'assert-view-uuid', uuid: base.metadata.viewUuid }],
      updates: viewUpdatesToJson(updates),
    };
    const expected = [statusNotFound, statusConflict];
    const request = { method: 'POST', endpoint: viewEndpoint, names: namesOf(ident), body, writes: true, expected } as const;
    const { status } = await this.#client.request(request, signal);
    return status !== statusNotFound && status !== statusConflict;
  }

  async rename(from: TableIdent, to: TableIdent, signal?: AbortSignal): Promise<NameChange> {
    if ((await this.load(from, signal)) === undefined) return 'absent';
    const body = { source: identJson(from), destination: identJson(to) };
    return await changeName(this.#client, { endpoint: renameEndpoint, body }, to.namespace, signal);
  }

  async drop(ident: TableIdent, signal?: AbortSignal): Promise<boolean> {
    if ((await this.load(ident, signal)) === undefined) return false;
    const request = { method: 'DELETE', endpoint: viewEndpoint, names: namesOf(ident), writes: true, expected: [statusNotFound] } as const;
    return (await this.#client.request(request, signal)).status !== statusNotFound;
  }
}

function namesOf(ident: TableIdent): { readonly namespace: readonly string[]; readonly view: string } {
  return { namespace: ident.namespace, view: ident.name };
}
