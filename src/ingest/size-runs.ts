/** Items in their order, as runs of `maxBytes` together at most; one that is larger is a run of its own. */
export function* runsOf<Item>(
  items: Iterable<Item>,
  sizeOf: (item: Item) => number,
  maxBytes: number,
): Generator<readonly Item[], void, undefined> {
  let run: Item[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = sizeOf(item);
    if (run.length > 0 && bytes + size > maxBytes) {
      yield run;
      [run, bytes] = [[], 0];
    }
    run.push(item);
    bytes += size;
  }
  if (run.length > 0) yield run;
}
