import type { IngestState } from '../ingest/ingest-observer.ts';
import type { IngestStatus } from '../ingest/table-ingest.ts';
import type { ComponentHealth } from '../observability/health.ts';

export interface IngestSaid {
  readonly state: IngestState;
  /** For people: what it waits for, or why it stands still. */
  readonly detail: string | undefined;
}

/** The part of the process that fills a table, as probes name it. */
export function ingestComponent(table: string): string {
  return `ingest:${table}`;
}

/**
 * How the ingest of a table is, whether it runs or was refused before it could: `running` is that of its last start, which a later one may not have come
 * to. `undefined`: it is not of this process.
 */
export function ingestSaid(
  running: Pick<IngestStatus, 'state' | 'detail'> | undefined,
  health: Pick<ComponentHealth, 'state' | 'detail'> | undefined,
): IngestSaid | undefined {
  if (health === undefined) return running;
  const isRefused = health.state === 'failed';
  // One that runs is failed to probes when its commits come to no end.
  if (running !== undefined && running.state !== 'failed')
    return { state: running.state, detail: running.detail ?? (isRefused ? health.detail : undefined) };
  return { state: isRefused ? 'failed' : (running?.state ?? 'joining'), detail: health.detail ?? running?.detail };
}
