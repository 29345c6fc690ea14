import { isJsonObject, type JsonObject } from '../../base/bigint-json.ts';
import { isServiceError } from '../../base/errors.ts';
import type { LoadedMetadata, MetadataChange, SwapOutcome, TablePointer } from '../../iceberg/pointer/table-pointer.ts';
import { tableMetadataFromJson } from '../../iceberg/spec/read-table-metadata.ts';
import { requirementToJson } from '../../iceberg/spec/requirements.ts';
import { updateToJson } from '../../iceberg/spec/updates-json.ts';
import type { TableIdent } from '../../table/table-formats.ts';
import { schemaNotFound } from '../namespace-errors.ts';
import { effectiveUpdates } from './effective-updates.ts';
import { fileSettingsIn } from './file-settings.ts';
import type { HttpAnswer } from './http-exchange.ts';
import type { RestClient } from './rest-client.ts';
import { failureIn, invalidAnswer, outcomeUnknown, restError } from './rest-errors.ts';

/** The endpoint of one table. */
export const tableEndpoint: string = '/v1/{prefix}/namespaces/{namespace}/tables/{table}';

const statusNotModified = 304;
const statusNotFound = 404;
const statusConflict = 409;
const statusInvalid = 400;

/** A table of a REST catalog: the server applies changes and writes the metadata files. */
export class RestTablePointer implements TablePointer {
  readonly name: string;
  readonly singleWriterOnly = undefined;
  readonly #client: RestClient;
  readonly #ident: TableIdent;
  /** The server's mark of a state it has handed out. */
  readonly #tags = new WeakMap<LoadedMetadata, string>();
  #fileSettings: Readonly<Record<string, string>> | undefined;

  /** @param parts.fileSettings of a table that is staged. */
  constructor(parts: {
    readonly name: string;
    readonly ident: TableIdent;
    readonly client: RestClient;
    readonly fileSettings?: Readonly<Record<string, string>> | undefined;
  }) {
    this.name = parts.name;
    this.#fileSettings = parts.fileSettings;
    this.#client = parts.client;
    this.#ident = parts.ident;
  }

  get fileSettings(): Readonly<Record<string, string>> | undefined {
    return this.#fileSettings;
  }

  async load(known: LoadedMetadata | undefined, signal?: AbortSignal): Promise<LoadedMetadata | undefined> {
    // Credentials end: where the server vends them it is asked for the table again and again.
    const tag = known === undefined || holdsCredentials(known) ? undefined : this.#tags.get(known);
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
    return await this.#loadedFrom(answer, known, `GET of table ${this.name}`);
  }

  async swap(base: LoadedMetadata | undefined, change: MetadataChange, signal?: AbortSignal): Promise<SwapOutcome> {
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
      return { kind: 'committed', loaded: await this.#loadedFrom(answer, undefined, `commit to ${this.name}`) };
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

  async #loadedFrom({ body, headers }: HttpAnswer, known: LoadedMetadata | undefined, shown: string): Promise<LoadedMetadata> {
    if (!isJsonObject(body)) throw invalidAnswer(shown, 'is no object');
    const location = body['metadata-location'];
    const metadataLocation = typeof location === 'string' ? location : undefined;
    const unchanged = known !== undefined && metadataLocation !== undefined && known.metadataLocation === metadataLocation;
    const metadata = unchanged ? known.metadata : tableMetadataFromJson(body['metadata'], metadataLocation ?? shown);
    const properties = fileSettingsIn(await this.#client.config(), body, metadataLocation ?? metadata.location);
    this.#fileSettings = properties;
    const loaded = unchanged && sameEntries(properties, known.properties ?? {}) ? known : { metadata, metadataLocation, properties };
    const tag = headers.get('etag');
    if (tag !== null) this.#tags.set(loaded, tag);
    return loaded;
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

function sameEntries(left: Readonly<Record<string, string>>, right: Readonly<Record<string, string>>): boolean {
  const keys = Object.keys(left);
  return keys.length === Object.keys(right).length && keys.every((key) => left[key] === right[key]);
}

function holdsCredentials({ properties = {} }: LoadedMetadata): boolean {
  return Object.keys(properties).some((key) => /(access-key-id|session-token|sas-token|oauth2\.token)/.test(key));
}
