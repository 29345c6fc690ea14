import { type ServiceError, serviceError } from './errors.ts';

/** Directories that something is read from, whose they are and what setting names more of them. */
export interface Confinement {
  readonly directories: readonly string[];
  /** For messages, such as `table "t"`. */
  readonly of: string;
  readonly setting: string;
}

/** The refusal of a file that lies elsewhere. */
export function outside(path: string, { of, setting }: Confinement, how = ''): ServiceError {
  return serviceError.invalid('FILE_OUTSIDE_TABLE', `${of}: "${path.slice(0, 300)}"${how} is outside of where it may be read`, {
    hint: `if the place is to be trusted, name its directory in ${setting}`,
  });
}
