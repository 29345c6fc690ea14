/** What a twin does. `standing`: somebody has to act; the leader goes on. */
export type TwinState = 'starting' | 'following' | 'retrying' | 'standing';

export interface TwinObserver {
  state(state: TwinState, error: unknown): void;
  /** A version of the leader is shown now; `whole`: by comparing all files. */
  shown(version: number, whole: boolean): void;
  /** Versions that the leader is ahead. */
  lag(versions: number): void;
}

export interface TwinStatus {
  readonly table: string;
  readonly leader: string;
  readonly state: TwinState;
  readonly error: unknown;
  /** Version of the leader that the twin shows. */
  readonly shownVersion: number | undefined;
  readonly lagVersions: number | undefined;
}
