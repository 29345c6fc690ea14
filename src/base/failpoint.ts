/**
 * A named place in the code where a test may kill, pause or break the process (docs/spec/failpoints.md).
 * Inert in production: the default does nothing.
 */
export type FailpointName =
  | 'F1' // ingest: after poll
  | 'F2' // ingest: before the data file is put
  | 'F3' // ingest: in the middle of the data file put
  | 'F4' // ingest: after the data files are put, before the commit
  | 'D1' // ingest: dead letters are stored, before the commit
  | 'F5' // ingest: commit applied, response dropped
  | 'I1' // commit: manifests written, before their list
  | 'I2' // commit: manifest list written, before the swap
  | 'S1' // commit: before a catalog's swap
  | 'F6' // ingest: after the commit, before the group offset commit
  | 'F7' // ingest: after the group offset commit
  | 'C1' // feed: before the transaction begins
  | 'C2' // feed: in the middle of sending
  | 'C3' // feed: before EndTxn
  | 'C4' // feed: EndTxn applied, response dropped
  | 'C5' // feed: after the transaction committed
  | 'M1' // maintenance: after the read set is fixed
  | 'M2' // maintenance: after the rewritten files are put
  | 'M3' // maintenance: the commit meets a conflict
  | 'V1' // vacuum: after listing
  | 'V2'; // vacuum: in the middle of deleting

/** Called at a failpoint; returns at once unless a test armed that name. */
export type Failpoint = (name: FailpointName) => Promise<void>;

export const inertFailpoint: Failpoint = () => Promise.resolve();
