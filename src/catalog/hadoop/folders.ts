/**
 * Folders that are there although they hold nothing: where namespaces are folders. Paths are relative to the root, without slashes at the
 * ends; the root is the empty path.
 *
 * Errors as `ObjectStore`.
 */
export interface Folders {
  /** Names of the folders directly in one, in any order; `undefined`: there is no such folder. The root is always there. */
  children(path: string, signal?: AbortSignal): Promise<readonly string[] | undefined>;
  /** With those it is in. False: it was there. */
  create(path: string, signal?: AbortSignal): Promise<boolean>;
  /** Files that are of no account do not count as content. */
  removeEmpty(path: string, signal?: AbortSignal): Promise<'removed' | 'absent' | 'not-empty'>;
}
