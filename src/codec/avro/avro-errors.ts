import { ServiceError } from '../../base/errors.ts';

/** `AVRO_FILE_CORRUPT`: bytes that contradict the format. `where` names the file and the place. */
export function avroCorrupt(where: string, detail: string, cause?: unknown): ServiceError {
  return new ServiceError({ code: 'AVRO_FILE_CORRUPT', kind: 'corrupt', message: `${where}: ${detail}`, cause });
}

/** `AVRO_UNSUPPORTED`: a legal file with something that this version does not read. */
export function avroUnsupported(where: string, detail: string, hint?: string): ServiceError {
  return new ServiceError({ code: 'AVRO_UNSUPPORTED', kind: 'unsupported', message: `${where}: ${detail}`, hint });
}

/** `AVRO_VALUE_MISMATCH`: a value to be written that does not fit its type. */
export function avroMismatch(where: string, detail: string): ServiceError {
  return new ServiceError({ code: 'AVRO_VALUE_MISMATCH', kind: 'invalid', message: `${where}: ${detail}` });
}
