import { isServiceError, type ServiceError, serviceError } from '../../base/errors.ts';
import { kafkaTopicNotFound, kafkaUnavailable } from '../errors.ts';
import { kafkaCodeText } from './kafka-code-names.ts';

/** Error codes of the Kafka protocol that this adapter reacts to. */
export const kafkaCode = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  leaderNotAvailable: 5,
  notLeader: 6,
  requestTimedOut: 7,
  messageTooLarge: 10,
  coordinatorLoading: 14,
  coordinatorNotAvailable: 15,
  notCoordinator: 16,
  invalidTopic: 17,
  recordListTooLarge: 18,
  notEnoughReplicas: 19,
  notEnoughReplicasAfterAppend: 20,
  illegalGeneration: 22,
  unknownMember: 25,
  invalidSessionTimeout: 26,
  rebalanceInProgress: 27,
  topicAuthorizationFailed: 29,
  groupAuthorizationFailed: 30,
  clusterAuthorizationFailed: 31,
  invalidTimestamp: 32,
  unsupportedVersion: 35,
  outOfOrderSequence: 45,
  duplicateSequence: 46,
  invalidProducerEpoch: 47,
  invalidTxnState: 48,
  invalidProducerIdMapping: 49,
  concurrentTransactions: 51,
  transactionCoordinatorFenced: 52,
  transactionalIdAuthorizationFailed: 53,
  saslAuthenticationFailed: 58,
  unknownProducerId: 59,
  invalidRecord: 87,
  producerFenced: 90,
  unknownTopicId: 100,
  inconsistentTopicId: 103,
} as const;

/** The protocol's error code inside a kafkajs error; `undefined` when the trouble was not an answer of the broker. */
export function kafkaCodeOf(error: unknown): number | undefined {
  for (const each of chainOf(error)) {
    if ('code' in each && typeof each.code === 'number' && 'type' in each && typeof each.type === 'string') {
      if (each.code !== unknownToKafkajs) return each.code;
      // kafkajs keeps a code it has no name for in the message only.
      const digits = /-?\d+$/.exec(each.message);
      return digits === null ? undefined : Number(digits[0]);
    }
  }
  return undefined;
}

/** The code means: the coordinator moved or starts; ask for it again. */
export function isCoordinatorMove(code: number | undefined): boolean {
  return code === kafkaCode.coordinatorLoading || code === kafkaCode.coordinatorNotAvailable || code === kafkaCode.notCoordinator;
}

/** The code means: a newer producer owns the id. */
export function isFencing(code: number | undefined): boolean {
  return (
    code === kafkaCode.invalidProducerEpoch ||
    code === kafkaCode.producerFenced ||
    code === kafkaCode.invalidProducerIdMapping ||
    code === kafkaCode.transactionCoordinatorFenced
  );
}

interface Privileges {
  readonly resource: string;
  readonly needed: string;
}

const authorization: ReadonlyMap<number, Privileges> = new Map([
  [
    kafkaCode.topicAuthorizationFailed,
    {
      resource: 'topic',
      needed:
        'Read on a source topic; Write on a feed topic; Read and Write on the dead-letter and the positions topic; Create where it does not exist',
    },
  ],
  [kafkaCode.groupAuthorizationFailed, { resource: 'consumer group', needed: 'Read on the group' }],
  [kafkaCode.clusterAuthorizationFailed, { resource: 'cluster', needed: 'Create on the topics that are to be made' }],
  [kafkaCode.transactionalIdAuthorizationFailed, { resource: 'transactional id', needed: 'Write on the transactional id' }],
]);

/** The error as the port's callers know it. `what` says what was being done, for the message. */
export function toServiceError(error: unknown, what: string, topic?: string): ServiceError {
  if (isServiceError(error)) return error;
  const code = kafkaCodeOf(error);
  if (code !== undefined) return answerError(code, what, topic, error);
  const names = chainOf(error).map((each) => each.name);
  const message = chainOf(error).at(-1)?.message ?? String(error);
  if (names.includes('KafkaJSSASLAuthenticationError')) return authenticationFailed(message, error);
  if (chainOf(error).some(isTlsError)) return tlsFailed(message, error);
  return kafkaUnavailable(`${what}: ${message}`, error);
}

/** An error the broker answered with. */
export function answerError(code: number, what: string, topic: string | undefined, cause?: unknown): ServiceError {
  const privileges = authorization.get(code);
  if (privileges !== undefined)
    return notAuthorized(topic === undefined || what.includes(topic) ? what : `${what} of "${topic}"`, privileges, cause);
  if (code === kafkaCode.saslAuthenticationFailed) return authenticationFailed(what, cause);
  if (code === kafkaCode.unknownTopicOrPartition || code === kafkaCode.invalidTopic) return kafkaTopicNotFound(topic ?? what, cause);
  if (code === kafkaCode.unsupportedVersion) {
    return serviceError.unsupported('KAFKA_BROKER_TOO_OLD', `${what}: the broker does not speak this version`, {
      hint: 'use a broker of Kafka 2.1 or later',
      cause,
    });
  }
  if (refused.has(code)) {
    return serviceError.invalid(
      'KAFKA_REFUSED',
      `${what}: the broker refused with error ${kafkaCodeText(code)}${cause instanceof Error ? ` (${cause.message})` : ''}`,
      { hint: refusalHint(code, topic), cause },
    );
  }
  return kafkaUnavailable(`${what}: the broker answered with error ${kafkaCodeText(code)}`, cause);
}

function refusalHint(code: number, topic: string | undefined): string | undefined {
  if (code === kafkaCode.invalidTimestamp) return timestampHint(topic);
  if (code !== kafkaCode.invalidSessionTimeout) return undefined;
  return 'set sessionTimeout between group.min.session.timeout.ms (6s unless changed) and group.max.session.timeout.ms of the broker';
}

/** Dead letters have the time of the record that they tell of, whatever it says. */
function timestampHint(topic: string | undefined): string {
  const where = topic === undefined ? 'the topic' : `topic "${topic}"`;
  return (
    `let ${where} take the times that its records have: set message.timestamp.after.max.ms (times to come) or ` +
    'message.timestamp.before.max.ms (times gone by) of it to 9223372036854775807, before Kafka 3.6 message.timestamp.difference.max.ms'
  );
}

/** Whether trying again can never help without somebody changing something. */
export function isPermanent(error: ServiceError): boolean {
  return error.kind !== 'unavailable' && error.kind !== 'unknown-outcome' && error.kind !== 'aborted';
}

const unknownToKafkajs = -99;

// invalid: required acks, group id, session timeout, commit size, timestamp, partitions, replication factor, replica assignment,
// config, request, policy, transaction timeout, record; unsupported: message format, compression.
const refused: ReadonlySet<number> = new Set([21, 23, 24, 26, 28, 32, 37, 38, 39, 40, 42, 43, 44, 50, 76, 87]);

function chainOf(error: unknown): readonly Error[] {
  const chain: Error[] = [];
  for (let at = error; at instanceof Error && chain.length < 8; at = causeOf(at)) chain.push(at);
  return chain;
}

/** What is behind an error; of several at once, as kafkajs has them for the topics of a request, the first. */
function causeOf(error: Error): unknown {
  const all: unknown = 'errors' in error ? error.errors : undefined;
  return error.cause ?? (Array.isArray(all) ? all[0] : undefined);
}

function isTlsError(error: Error): boolean {
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  return /CERT|SIGNATURE|SELF_SIGNED|TLS|SSL/.test(code) || /certificate|ssl routines|wrong version number/i.test(error.message);
}

function notAuthorized(what: string, { resource, needed }: Privileges, cause: unknown): ServiceError {
  return serviceError.invalid('KAFKA_NOT_AUTHORIZED', `${what}: the user may not use this ${resource}`, {
    hint: `grant ${needed}; SECURITY.md lists the least privileges`,
    cause,
  });
}

function authenticationFailed(what: string, cause: unknown): ServiceError {
  return serviceError.invalid('KAFKA_AUTHENTICATION_FAILED', `the broker refused the log-in: ${what}`, {
    hint: 'check mechanism, user name and password; a corrected passwordFile is read at the next attempt, within a minute',
    cause,
  });
}

function tlsFailed(what: string, cause: unknown): ServiceError {
  return serviceError.invalid('KAFKA_TLS_FAILED', `no trusted TLS connection to the broker: ${what}`, {
    hint: 'check the certificate authority, the server name and whether the listener speaks TLS',
    cause,
  });
}
