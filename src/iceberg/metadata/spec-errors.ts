import { type ServiceError, serviceError } from '../../base/errors.ts';

/** `ICEBERG_METADATA_INVALID` (kind corrupt): metadata that contradicts the specification. `where` names the file. */
export function invalidMetadata(where: string, detail: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('ICEBERG_METADATA_INVALID', `${where}: ${detail}`, { cause });
}

/** `ICEBERG_FORMAT_VERSION_UNSUPPORTED` (kind unsupported). */
export function unsupportedFormatVersion(
  where: string,
  version: number,
  hint: string = 'tables of format versions 1, 2 and 3 are read',
): ServiceError {
  return serviceError.unsupported('ICEBERG_FORMAT_VERSION_UNSUPPORTED', `${where}: cannot read unsupported version ${version}`, { hint });
}

/** `ICEBERG_TYPE_UNSUPPORTED` (kind unsupported) naming column and type. */
export function unsupportedType(where: string, column: string, type: string): ServiceError {
  return serviceError.unsupported(
    'ICEBERG_TYPE_UNSUPPORTED',
    `${where}: column "${column}" has the type ${type}, which this version does not read`,
    { hint: 'open the table with an engine that has the type, or drop the column there' },
  );
}

/** `ICEBERG_UPDATE_REFUSED` (kind invalid): a change that the metadata does not allow, in the words other implementations use. */
export function refusedUpdate(message: string): ServiceError {
  return serviceError.invalid('ICEBERG_UPDATE_REFUSED', message);
}
