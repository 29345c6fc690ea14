import { createAdminServer } from '../admin/admin-server.ts';
import { untilAborted } from '../base/abort.ts';
import { describeError } from '../base/errors.ts';
import { SystemClock } from '../base/system-clock.ts';
import { SystemRandom } from '../base/system-random.ts';
import type { Config } from '../config/settings.ts';
import { KafkajsClient } from '../kafka/kafkajs/kafkajs-client.ts';
import { EventLoopMonitor } from '../observability/event-loop-delay.ts';
import type { CommandContext, Role, ServeOptions } from './app-commands.ts';
import { prepareDemo, runDemo } from './demo.ts';
import { topicFreshness } from './freshness/topic-freshness.ts';
import { type OpenedComponents, openComponents } from './open-components.ts';
import { partitionsRead } from './partitions-read.ts';
import { PipelineProcess } from './pipeline-process.ts';
import { pipelineStatus } from './pipeline-status.ts';
import { type ProcessMemory, processMemory, readsTopics } from './process-memory.ts';
import { openServers, type Servers } from './servers.ts';

/**
 * Runs the roles until the context's signal fires (or, with `once`, until the sample is through), then drains: everything accepted is
 * committed, everything committed is published. Resolves with the exit code.
 */
export async function serve(context: CommandContext, options: ServeOptions): Promise<number> {
  const { config } = context.loaded;
  const { role } = options;
  const needsRedis = config.maintenance.enabled && (role === 'all' || role === 'maintenance');
  const tell = (message: string): void => {
    process.stderr.write(`${message}\n`);
  };
  const servers = await openServers({ config, needsKafka: true, needsRedis, log: tell, signal: context.signal });
  try {
    const memory = await memoryOf(config, role, servers.brokers);
    const components = openComponents({ config, role, brokers: servers.brokers, memory });
    try {
      return await servePipeline({ context, options, components, servers, tell });
    } finally {
      await components.close();
    }
  } finally {
    await servers.stop();
  }
}

/** A client of its own asks how much there is to read: what the others may use is decided by it. */
async function memoryOf(config: Config, role: Role, brokers: readonly string[]): Promise<ProcessMemory | undefined> {
  if (!readsTopics(role) || config.ingest.routes.length === 0) return processMemory(config, role, 0);
  const clock = new SystemClock();
  const kafka = new KafkajsClient({ settings: { ...config.kafka, brokers }, clock, random: new SystemRandom() });
  return processMemory(config, role, await partitionsRead(config, { kafka, clock }));
}

const livenessWindowMs = 15_000;

interface Serving {
  readonly context: CommandContext;
  readonly options: ServeOptions;
  readonly components: OpenedComponents;
  readonly servers: Servers;
  readonly tell: (message: string) => void;
}

async function servePipeline(serving: Serving): Promise<number> {
  const { context, options, components, servers } = serving;
  const { config, clock, logger, metrics, health } = components;
  const pipeline = new PipelineProcess(components, { role: options.role, redisUrl: servers.redisUrl });
  const startedAt = new Date(clock.now()).toISOString();
  metrics.start();
  const liveness = watchLiveness();
  const admin = createAdminServer(config.server, {
    health: () => health.report(),
    status: (signal) =>
      pipelineStatus(
        {
          ...{ components, role: options.role, startedAt, queues: () => pipeline.queues, holds: () => pipeline.holds },
          ...{ ingest: pipeline.ingest, feeds: pipeline.feeds, twins: pipeline.twins },
        },
        signal,
      ),
    freshness: (request, signal) => topicFreshness({ components, kafka: components.kafka }, request, signal),
    metrics,
    // A worker thread that cannot be ended hangs as the event loop does, and the end of the process helps against both.
    eventLoopDelayMs: () => Math.max(liveness.read().max * 1_000, pipeline.ingest?.hungMs ?? 0),
    clock,
    logger,
  });
  const { url } = await admin.start();
  logger.info('serving', { role: options.role, url });
  if (components.memory !== undefined) {
    const { of, plan } = components.memory;
    logger.info('memory', { of: of ?? 'ingest.memory', ...plan });
  }
  if (options.demo) await prepareDemo(components);
  pipeline.start();
  let code = 0;
  try {
    if (options.demo) code = await runDemo({ ...serving, pipeline, url });
    else await untilAborted(context.signal);
  } catch (error) {
    serving.tell(describeError(error));
    code = 1;
  } finally {
    await pipeline.drain();
    await admin.stop();
    metrics.stop();
    liveness.stop();
  }
  logger.info('stopped');
  return code;
}

/** How late the event loop was lately: forgets after every window, so that one stall does not end the process long after it. */
function watchLiveness(): EventLoopMonitor {
  const monitor = new EventLoopMonitor();
  monitor.start();
  setInterval(() => {
    monitor.reset();
  }, livenessWindowMs).unref();
  return monitor;
}
