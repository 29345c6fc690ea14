import { throwIfAborted } from '../../base/abort.ts';
import { assertNever } from '../../base/assert.ts';
import { type ServiceError, serviceError } from '../../base/errors.ts';
import type { LogSummary } from '../../table/row-operations.ts';
import type { Version } from '../../table/version.ts';
import { printActions } from '../action-json.ts';
import { type Action, type AddFile, fileKey, type RemoveFile } from '../actions.ts';
import type { OperationContext } from '../operations/operation-context.ts';
import { listLog } from './log-listing.ts';
import { compactedPath } from './log-names.ts';

/** Commits one file stands for at most: what they leave is held in memory. */
const maxCommits = 1_000;
/** Commits read at the same time. */
const readConcurrency = 8;

/**
 * Summarises the commits after the newest complete checkpoint that is older than the newest version, in files of up to a thousand commits.
 * Readers may take such a file in place of its commits, which stay. A single commit is not worth one.
 *
 * @throws ServiceError `DELTA_VERSIONS_NOT_CONTIGUOUS` (corrupt), `DELTA_LOG_CORRUPT`, and the store's own.
 */
export async function compactLog(context: OperationContext, signal?: AbortSignal): Promise<readonly LogSummary[]> {
  const { version: newest } = await context.refresh(signal);
  const { commits, checkpoints } = await listLog(context.store, 0, signal);
  const start = checkpoints.findLast((checkpoint) => checkpoint.version < newest)?.version ?? -1;
  const versions = commits.map((commit) => commit.version).filter((version) => version > start && version <= newest);
  const summaries: LogSummary[] = [];
  for (let at = 0; at < versions.length; at += maxCommits) {
    const chunk = versions.slice(at, at + maxCommits);
    const [from, until] = [chunk[0], chunk.at(-1)];
    if (from !== undefined && until !== undefined && from < until) summaries.push(await summarise(context, chunk, { from, until }, signal));
  }
  return summaries;
}

async function summarise(
  context: OperationContext,
  versions: readonly Version[],
  range: { readonly from: Version; readonly until: Version },
  signal: AbortSignal | undefined,
): Promise<LogSummary> {
  const path = compactedPath(range.from, range.until);
  if ((await context.store.head(path, signal)) !== undefined) return { ...range, written: false };
  const left = new Reconciliation();
  for (let index = 0; index < versions.length; index += readConcurrency) {
    throwIfAborted(signal);
    const read = versions.slice(index, index + readConcurrency).map(async (version) => {
      const commit = await context.readCommit(version, signal);
      if (commit === undefined) throw gone(context.name, version);
      return commit;
    });
    for (const commit of await Promise.all(read)) left.add(commit.actions);
  }
  const created = await context.store.putIfAbsent(path, printActions(left.actions()), signal);
  return { ...range, written: created === 'created' };
}

/**
 * What commits leave, for a state that is not known: the newest action of each key. Unlike in a checkpoint, everything that ends something
 * stays, for what it ends may be older than the commits. Delta protocol: Log Compaction Files, Action Reconciliation.
 */
export class Reconciliation {
  readonly #newest = new Map<string, Action>();

  /** Takes the actions of the next commit. */
  add(actions: readonly Action[]): void {
    for (const action of actions) {
      const key = keyOf(action);
      if (key !== undefined) this.#newest.set(key, action);
    }
  }

  /** Definition first, then marks and domains, then files. */
  actions(): readonly Action[] {
    const all = [...this.#newest.values()];
    const files = all.filter(isFile).map((action): Action => ({ ...action, dataChange: false }));
    const places = ['protocol', 'metaData', 'txn', 'domainMetadata'];
    const others = all.filter((action) => !isFile(action)).sort((left, right) => places.indexOf(left.kind) - places.indexOf(right.kind));
    return [...others, ...files];
  }
}

function isFile(action: Action): action is AddFile | RemoveFile {
  return action.kind === 'add' || action.kind === 'remove';
}

/** Actions of one key replace each other; `undefined`: the action only tells about its commit. */
function keyOf(action: Action): string | undefined {
  switch (action.kind) {
    case 'protocol':
    case 'metaData':
      return action.kind;
    case 'add':
    case 'remove':
      return `file\0${fileKey(action)}`;
    case 'txn':
      return `txn\0${action.appId}`;
    case 'domainMetadata':
      return `domain\0${action.domain}`;
    case 'cdc':
    case 'commitInfo':
      return undefined;
    default:
      return assertNever(action);
  }
}

function gone(table: string, version: Version): ServiceError {
  return serviceError.corrupt('DELTA_VERSIONS_NOT_CONTIGUOUS', `table "${table}": commit ${version} vanished while the log was read`, {
    hint: 'a commit file was deleted by hand, or the log was cleaned up at the same time; run it again',
  });
}
