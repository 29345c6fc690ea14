import { type JsonObject, printJson } from '../../../base/bigint-json.ts';

/** `operationParameters` of an OPTIMIZE as the history shows them: lists are JSON text. */
export function optimizeParameters(given: {
  /** The condition as Spark prints it. */
  readonly predicate?: string | undefined;
  readonly zOrderBy?: readonly string[] | undefined;
  /** The columns of a clustered table. */
  readonly clusterBy?: readonly string[] | undefined;
  readonly auto?: boolean | undefined;
  /** Only said of clustered tables. */
  readonly full?: boolean | undefined;
}): JsonObject {
  return {
    predicate: printJson(given.predicate === undefined ? [] : [given.predicate]),
    zOrderBy: printJson(given.zOrderBy ?? []),
    clusterBy: printJson(given.clusterBy ?? []),
    auto: given.auto ?? false,
    ...(given.clusterBy === undefined ? {} : { isFull: given.full ?? false }),
  };
}

/** `operationParameters` of a REORG … APPLY (PURGE). */
export function reorgParameters(predicate: string | undefined): JsonObject {
  return { predicate: printJson(predicate === undefined ? [] : [predicate]), applyPurge: true };
}
