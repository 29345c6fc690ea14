import { type ServiceError, serviceError } from '../../base/errors.ts';

/** The error for bytes that contradict the format: `ORC_FILE_CORRUPT` (kind corrupt). `place` names the file and the part of it. */
export function corruptOrc(place: string, message: string, cause?: unknown): ServiceError {
  return serviceError.corrupt('ORC_FILE_CORRUPT', `${place}: ${message}`, { cause });
}

/** The error for a part of the format that is left out: `ORC_FEATURE_UNSUPPORTED` (kind unsupported). */
export function unsupportedOrc(place: string, message: string, hint: string): ServiceError {
  return serviceError.unsupported('ORC_FEATURE_UNSUPPORTED', `${place}: ${message}`, { hint });
}
