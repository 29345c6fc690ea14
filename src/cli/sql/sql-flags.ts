import type { ResultFormat } from './result-format.ts';

/** Text to execute, or a file of it. */
export interface SqlInput {
  readonly kind: 'text' | 'file';
  readonly value: string;
}

/** What `tidewater sql` is told besides. */
export interface SqlFlags {
  readonly format?: ResultFormat | undefined;
  /** `key=value`. */
  readonly conf?: readonly string[] | undefined;
  readonly warehouse?: string | undefined;
  readonly database?: string | undefined;
  readonly timing?: boolean | undefined;
}
