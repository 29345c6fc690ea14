import type { MaintenanceKind } from '../table/table.ts';

/** Everything there is a queue for. */
export const maintenanceKinds: readonly MaintenanceKind[] = [
  'checkpoint',
  'compact',
  'vacuum',
  'expire',
  'rewrite-manifests',
  'rewrite-deletes',
];
