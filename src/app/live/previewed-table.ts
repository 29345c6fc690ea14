import type { DefinitionOperations } from '../../table/definition-changes.ts';
import type { QueryableTable, Snapshot, Table } from '../../table/table.ts';

/** A table whose definition changes as its ingest would change it, for whoever reads it alone: nothing is written. */
export class PreviewedTable implements Pick<Table, 'format' | 'refresh' | 'writeSpec' | 'detail'> {
  readonly format: Table['format'];
  readonly writeSpec: Table['writeSpec'];
  readonly detail: Table['detail'];
  readonly operations: DefinitionOperations;
  #snapshot: Snapshot;

  constructor(table: QueryableTable, snapshot: Snapshot) {
    this.format = table.format;
    this.writeSpec = (of) => table.writeSpec(of);
    this.detail = (signal) => table.detail(signal);
    this.#snapshot = snapshot;
    this.operations = {
      alter: async (change, options) => {
        this.#snapshot = await table.preview(this.#snapshot, change, options?.signal);
        return this.#snapshot.version;
      },
    };
  }

  /** The rows of the version that it was made of, by the columns as they would be. */
  get snapshot(): Snapshot {
    return this.#snapshot;
  }

  refresh(): Promise<Snapshot> {
    return Promise.resolve(this.#snapshot);
  }
}
