import { isJsonObject, type JsonObject, parseJson, printJson } from '../base/bigint-json.ts';
import { type ServiceError, serviceError } from '../base/errors.ts';
import type { MaintenanceKind } from '../table/table.ts';
import { maintenanceKinds } from './maintenance-kinds.ts';

/** What should happen to a table; plain data that outlives processes. Version 1. */
export interface JobSpec {
  readonly table: string;
  readonly kind: MaintenanceKind;
  /** The measured debt that asked for it, for people. */
  readonly reason: string;
}

const payloadVersion = 1;

/** What tells jobs apart. */
export type JobIdentity = Pick<JobSpec, 'table' | 'kind'>;

/** At most one job of this identity is waiting or running: asking twice is asking once. */
export function jobIdentity(spec: JobIdentity): string {
  return `${spec.table}/${spec.kind}`;
}

export function printJobSpec(spec: JobSpec): string {
  return printJson({ v: payloadVersion, table: spec.table, kind: spec.kind, reason: spec.reason });
}

/**
 * Reads a payload from a queue, where anything may have been put by anybody.
 *
 * @throws ServiceError `JOB_INVALID` (kind invalid) naming what is wrong.
 */
export function parseJobSpec(text: string): JobSpec {
  const payload = parseJson(text, 'job payload');
  if (!isJsonObject(payload)) throw invalidJob('is not an object');
  if (payload['v'] !== payloadVersion)
    throw invalidJob(`has version ${shown(printJson(payload['v'] ?? null))}, this process knows ${payloadVersion}`);
  return { table: textOf(payload, 'table'), kind: kindOf(textOf(payload, 'kind')), reason: textOf(payload, 'reason') };
}

function textOf(payload: JsonObject, name: string): string {
  const value = payload[name];
  if (typeof value !== 'string' || value === '') throw invalidJob(`has no "${name}"`);
  return value;
}

function kindOf(text: string): MaintenanceKind {
  const kind = maintenanceKinds.find((known) => known === text);
  if (kind !== undefined) return kind;
  throw invalidJob(`has the unknown kind "${shown(text)}"`);
}

const maxShown = 100;

/** Whoever wrote the payload may have put anything there, of any length. */
function shown(text: string): string {
  return text.length > maxShown ? `${text.slice(0, maxShown)}…` : text;
}

function invalidJob(what: string): ServiceError {
  return serviceError.invalid('JOB_INVALID', `a maintenance job ${what}`, {
    hint: 'do all processes of this pipeline run the same version? the job is dropped and planned again',
  });
}
