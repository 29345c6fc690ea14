/** Where the tables of a route stand in one partition, and what is being read of it. */
export interface ReadState {
  /** Where each table goes on that takes what is read now. */
  readonly cursors: readonly bigint[];
  /** A table is full, and has been for so short a time that the others wait for it. */
  readonly waits: boolean;
  /** What the next fetch asks for; `undefined`: nothing. */
  readonly at: bigint | undefined;
  /** Where the first of the fetched parts begins that are not handed on yet; `undefined`: there are none. */
  readonly pendingFrom: bigint | undefined;
  /** End of the partition, as the last fetch told. */
  readonly end: bigint;
  /** Whether the fetch before was for those that are behind. */
  readonly servedBehind: boolean;
}

export interface NextRead {
  readonly paused: boolean;
  /** Where to go; absent: on as before. */
  readonly seek?: bigint | undefined;
  readonly servesBehind: boolean;
}

/**
 * Decides what is fetched next. Tables that stand at one place are read for together. Otherwise those furthest behind come first, in turn with those
 * at the head as long as there is something new: neither waits for the other for longer than a fetch.
 */
export function nextRead({ cursors, waits, at, pendingFrom, end, servedBehind }: ReadState): NextRead {
  const [first, ...others] = cursors;
  if (first === undefined || waits) return { paused: true, servesBehind: servedBehind };
  const least = others.reduce((lowest, cursor) => (cursor < lowest ? cursor : lowest), first);
  const head = others.reduce((highest, cursor) => (cursor > highest ? cursor : highest), first);
  const apart = least !== head;
  // What was fetched and begins behind somebody would not serve him.
  if (pendingFrom !== undefined) return { paused: apart || least < pendingFrom, servesBehind: servedBehind };
  const servesBehind = !(apart && servedBehind && end > head);
  const target = servesBehind ? least : head;
  return { paused: false, servesBehind, ...(target === at ? {} : { seek: target }) };
}
