/** One object (a file, or a part of one) that the rows of a table depend on, as its log names it. */
export interface TableObject {
  /** For messages: `data file`, `manifest`, … */
  readonly noun: string;
  /** As the log has it. */
  readonly path: string;
  /** Size of the whole file by the log; `undefined`: the log does not say. */
  readonly sizeBytes: number | undefined;
  /** Rows, deleted positions or entries in it by the log; `undefined`: the log does not say. */
  readonly count: number | undefined;
  /** Size of the file in the store; `undefined`: it is not there. */
  head(signal?: AbortSignal): Promise<number | undefined>;
  /**
   * What can be told of it without reading every page: begins and ends as its format wants, its footer can be followed, its checksum holds.
   * How many rows, positions or entries it has by its own account. `undefined`: there is nothing to count in it.
   *
   * @param sizeBytes as `head` found it.
   * @throws ServiceError (kind corrupt) saying what is wrong with it.
   */
  inspect(sizeBytes: number, signal?: AbortSignal): Promise<number | undefined>;
}
