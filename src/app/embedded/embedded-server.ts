/** Where an embedded server keeps its things, and how it reports. */
export interface EmbeddedServerOptions {
  /** Directory of this server alone: data, settings, logs and the record of the running process. Made when missing. */
  readonly dir: string;
  /** Where downloads are kept between runs and checkouts. Default: `defaultCacheDir()`. */
  readonly cacheDir?: string | undefined;
  /** Told what takes longer than a moment: downloads, starting, adopting, stopping. */
  readonly log?: EmbeddedLog | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the server outlives an owner that vanished without `stop` (a restart in the meantime takes it over). Default 60 s. */
  readonly orphanGraceMs?: number | undefined;
}

export type EmbeddedLog = (message: string, fields?: Readonly<Record<string, string | number>>) => void;

/** A server that runs as a child process, or one that an earlier or a neighbouring process of this directory started. */
export interface EmbeddedServer {
  readonly pid: number;
  /** Loopback port of the client listener. */
  readonly port: number;
  /** `shared`: another live process owns it, and `stop` leaves it running. */
  readonly origin: 'started' | 'adopted' | 'shared';
  /** Ends the server: SIGTERM, after 10 s SIGKILL. Resolves when the process is gone. May be called again. */
  stop(): Promise<void>;
}
