import type { QueueStatus } from '../admin/status.ts';
import type { Components } from './components.ts';

export class MaintenanceRole {
  readonly queues: readonly QueueStatus[] = [];
  constructor(_components: Components, _redisUrl: string) {}
  async run(_signal: AbortSignal): Promise<void> {}
}
