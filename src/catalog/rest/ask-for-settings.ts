import { isJsonObject } from '../../base/bigint-json.ts';
import { isServiceError, ServiceError } from '../../base/errors.ts';
import type { StorageProperties } from '../../base/storage-settings.ts';
import { mergedProperties, withoutCredentials } from '../../storage/s3/s3-settings.ts';
import type { TableIdent } from '../../table/table-ident.ts';
import { fileSettingsIn, vendedFor } from './file-settings.ts';
import { type RestClient, tableEndpoint } from './rest-client.ts';
import { invalidAnswer } from './rest-errors.ts';

const credentialsEndpoint = `${tableEndpoint}/credentials`;

/**
 * Settings for a table's files as the server hands them out at this time, with other credentials where it has any: from the endpoint for
 * credentials where the server says that it has one, else by loading the table. The endpoint is that of the catalog, whatever the table's
 * settings name.
 *
 * @param newest what the server has handed out last.
 */
export async function askForSettings(
  client: RestClient,
  table: { readonly ident: TableIdent; readonly location: string },
  newest: StorageProperties,
): Promise<StorageProperties> {
  const { ident, location } = table;
  const names = { namespace: ident.namespace, table: ident.name };
  const config = await client.config();
  const hasEndpoint = config.endpoints?.has(`GET ${credentialsEndpoint}`) === true;
  const { body } = await client.request({ method: 'GET', endpoint: hasEndpoint ? credentialsEndpoint : tableEndpoint, names });
  if (!isJsonObject(body)) throw invalidAnswer(`GET of the credentials of ${ident.name}`, 'is no object');
  // What came with the table beside credentials stays as it was.
  return hasEndpoint
    ? mergedProperties(withoutCredentials(newest), vendedFor(body, location) ?? {})
    : fileSettingsIn(config, body, location);
}

const notAnswered = { code: 'STORAGE_CREDENTIALS_NOT_RENEWED', kind: 'unavailable' } as const;
const notGranted = { code: 'STORAGE_CREDENTIALS_NOT_RENEWED', kind: 'invalid' } as const;

/**
 * Why settings that end were not replaced. An absent table is not told as such: that a file of it is absent would follow.
 *
 * @param table with its catalog.
 */
export function settingsNotRenewed(table: string, cause: unknown): ServiceError {
  const reason = isServiceError(cause) ? cause.message : 'an unexpected failure';
  return new ServiceError({
    ...(isServiceError(cause, 'unavailable') ? notAnswered : notGranted),
    message: `table "${table}": its catalog has handed out no storage credentials in place of those that end: ${reason}`,
    hint: 'check that the catalog server runs and still gives this principal access to the table',
    cause,
  });
}
