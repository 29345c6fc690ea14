import { readFileSync } from 'node:fs';
import { loadConfig } from '../config/load-config.ts';
import { openComponents } from './open-components.ts';
import { type PipelineFeeds, pipelineFeedsOf } from './pipeline-feeds.ts';
import { openServers } from './servers.ts';

/** How a pipeline's configuration is found. */
export interface OpenFeedsOptions {
  /** Files of the configuration; later ones win. */
  readonly config: readonly string[];
  /** Settings on top, each `path=value`. */
  readonly set?: readonly string[] | undefined;
  /** What `${NAME}` in the configuration stands for. Default: none. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** To be closed by the caller. */
export interface OpenedFeeds {
  readonly feeds: PipelineFeeds;
  close(): Promise<void>;
}

/**
 * The feeds of a pipeline, as `tidewater feeds` has them, for programs that operate it. The pipeline may run meanwhile or not.
 *
 * @throws ServiceError `CONFIG_INVALID` (kind invalid), and what the broker's client throws.
 */
export async function openFeeds({ config: files, set = [], env = {} }: OpenFeedsOptions): Promise<OpenedFeeds> {
  const readText = (path: string): string => readFileSync(path, 'utf8');
  const { config } = loadConfig({ files, env, overrides: set, workingDir: process.cwd(), readText });
  const { signal } = new AbortController();
  const servers = await openServers({ config, needsKafka: true, needsRedis: false, log: () => undefined, signal });
  const components = openComponents({ config, role: 'command', brokers: servers.brokers });
  return {
    feeds: pipelineFeedsOf(components),
    close: async () => {
      await components.close();
      await servers.stop();
    },
  };
}
