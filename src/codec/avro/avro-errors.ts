import { type ServiceError, serviceError } from '../../base/errors.ts';

/** `AVRO_FILE_CORRUPT`: bytes that contradict the format. `where` names the file and the place. */
export function avroCorrupt(where: string, detail: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('AVRO_FILE_CORRUPT', `${where}: ${detail}`, { cause });
}

/** `AVRO_UNSUPPORTED`: a legal file with something that this version does not read. */
export function avroUnsupported(where: string, detail: string, hint?: string): ServiceError {
  return serviceError.unsupported('AVRO_UNSUPPORTED', `${where}: ${detail}`, { hint });
}

/** `AVRO_VALUE_MISMATCH`: a value to be written that does not fit its type. */
export function avroMismatch(where: string, detail: string): ServiceError {
  return serviceError.invalid('AVRO_VALUE_MISMATCH', `${where}: ${detail}`);
}
