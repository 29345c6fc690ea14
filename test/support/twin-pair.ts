import { adaptTwin } from '../../src/app/adapt-twin.ts';
import { LocalTableEvents } from '../../src/app/local-table-events.ts';
import { createSession, type Session } from '../../src/app/session.ts';
import { twinDefinition } from '../../src/app/twin-definition.ts';
import type { Failpoint } from '../../src/base/failpoint.ts';
import { SystemRandom } from '../../src/base/system-random.ts';
import type { DeltaTable } from '../../src/delta/delta-table.ts';
import type { IcebergTable } from '../../src/iceberg/iceberg-table.ts';
import { IcebergTables } from '../../src/iceberg/iceberg-tables.ts';
import { openObjectStore } from '../../src/storage/open-object-store.ts';
import { TwinFollower } from '../../src/twin/twin-follower.ts';
import { LocalTables } from './local-tables.ts';

/** A Delta table and its twin on disk, as one process has them; `close` removes both. */
export class TwinPair {
  readonly tables: LocalTables;
  readonly told: string[] = [];
  leader: DeltaTable;
  #session: Session | undefined;

  private constructor(tables: LocalTables, leader: DeltaTable) {
    this.tables = tables;
    this.leader = leader;
  }

  static async create(columns: string, options: Parameters<LocalTables['create']>[2] = {}): Promise<TwinPair> {
    const tables = await LocalTables.open();
    return new TwinPair(tables, await tables.create('leader', columns, options));
  }

  async close(): Promise<void> {
    await this.#session?.stop();
    await this.tables.close();
  }

  /** `twin` of a catalog of files whose namespace is `db`. */
  get twinLocation(): string {
    return this.tables.path('db/twin');
  }

  /** A statement as anybody could give it: `{leader}` and `{twin}` stand for the tables. */
  async sql(text: string): Promise<readonly Readonly<Record<string, unknown>>[]> {
    this.#session ??= createSession({
      config: {
        'spark.sql.catalog.ice': 'org.apache.iceberg.spark.SparkCatalog',
        'spark.sql.catalog.ice.type': 'hadoop',
        'spark.sql.catalog.ice.warehouse': this.tables.directory,
        'tidewater.engine.threads': '2',
      },
      print: () => undefined,
    });
    const leader = `delta.\`${this.leader.location}\``;
    const frame = await this.#session.sql(text.replaceAll('{leader}', leader).replaceAll('{twin}', 'ice.db.twin'));
    return frame.collect();
  }

  /** What another process has of it. */
  async twin(failpoint?: Failpoint): Promise<IcebergTable> {
    const { clock, ids, engine } = this.tables;
    const driver = new IcebergTables({
      openStore: openObjectStore,
      clock,
      random: new SystemRandom(),
      ids,
      version: 'test',
      engine: () => Promise.resolve(engine),
      confinedTo: [],
      readableLocations: [this.leader.location],
      ...(failpoint === undefined ? {} : { failpoint }),
    });
    const present = await driver.open('twin', this.twinLocation);
    if (present !== undefined) return present;
    await driver.create('twin', this.twinLocation, await twinDefinition({ table: this.leader, part: this.leader.leader }, {}));
    return this.twin(failpoint);
  }

  /** What a process that starts now would follow with. */
  async follower(failpoint?: Failpoint): Promise<TwinFollower> {
    const { clock } = this.tables;
    const twin = await this.twin(failpoint);
    return new TwinFollower({
      leader: { table: this.leader, part: this.leader.leader },
      twin: { table: twin, part: twin.twin },
      adapt: adaptTwin(twin, { evolved: (what) => this.told.push(what) }),
      events: new LocalTableEvents(clock),
      clock,
      observer: { state: () => undefined, shown: () => undefined, lag: () => undefined },
      pollIntervalMs: 50,
    });
  }

  /** Follows to the end and gives the twin. */
  async follow(): Promise<IcebergTable> {
    await (await this.follower()).catchUp();
    return this.twin();
  }

  leaderRows(): Promise<readonly string[]> {
    return this.tables.rows(this.leader);
  }

  async twinRows(): Promise<readonly string[]> {
    return this.tables.rows(await this.twin());
  }
}
