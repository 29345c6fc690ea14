import { type ServiceError, serviceError } from '../base/errors.ts';

// The errors that every KafkaClient adapter raises, so that callers see one vocabulary whatever stands behind the port.

/** The broker was not reached or could not answer; nothing happened. */
export function kafkaUnavailable(what: string, cause?: unknown): ServiceError {
  return serviceError.unavailable('KAFKA_UNAVAILABLE', what, { cause });
}

/** The request went out and no answer came: it may have been applied. */
export function kafkaOutcomeUnknown(what: string, cause?: unknown): ServiceError {
  return serviceError.unknownOutcome('KAFKA_OUTCOME_UNKNOWN', what, { cause });
}

export function kafkaFenced(transactionalId: string, cause?: unknown): ServiceError {
  return serviceError.fenced(
    'KAFKA_FENCED',
    `transactional id "${transactionalId}": a newer producer took over, or the transaction timed out`,
    { hint: 'run one instance per transactional id; this one stops by itself', cause },
  );
}

/** A producer that was used after a failed `publish`. */
export function kafkaProducerDead(transactionalId: string): ServiceError {
  return serviceError.internal(
    'KAFKA_PRODUCER_DEAD',
    `transactional id "${transactionalId}": the producer was closed or failed before; open another`,
  );
}

export function kafkaTopicNotFound(topic: string, cause?: unknown): ServiceError {
  return serviceError.notFound('KAFKA_TOPIC_NOT_FOUND', `topic "${topic}" or the partition asked for does not exist`, {
    hint: 'create the topic or correct its name',
    cause,
  });
}

/** The name belongs to another incarnation than the one that is meant; `found` is `undefined` when it belongs to none. */
export function kafkaDestinationReplaced(topic: string, ids: { readonly meant: string; readonly found: string | undefined }): ServiceError {
  return serviceError.discontinuity(
    'KAFKA_DESTINATION_REPLACED',
    ids.found === undefined
      ? `topic "${topic}" (${ids.meant}) was deleted`
      : `topic "${topic}" was deleted and made anew: it is ${ids.found}, not ${ids.meant}`,
    { hint: 'decide what the new topic is to hold: what was published to the old one is gone' },
  );
}

/** The topic was deleted and created again under a reader. */
export function kafkaTopicReplaced(topic: string, expected: string, found: string): ServiceError {
  return serviceError.discontinuity(
    'KAFKA_TOPIC_REPLACED',
    `topic "${topic}" was deleted and created again: its id is ${found}, ${expected} was being read`,
    { hint: 'offsets of the deleted topic mean nothing in the new one: decide where to continue' },
  );
}

/** Records for a topic or partition that does not exist. */
export function kafkaNoSuchDestination(topic: string, cause?: unknown): ServiceError {
  return serviceError.invalid(
    'KAFKA_DESTINATION_NOT_FOUND',
    `records cannot be produced: topic "${topic}" or the partition asked for does not exist`,
    { hint: 'create the topic or correct its name', cause },
  );
}

export function kafkaRecordTooLarge(topic: string, bytes: number, cause?: unknown): ServiceError {
  return serviceError.invalid('KAFKA_RECORD_TOO_LARGE', `topic "${topic}" refused a record batch of ${bytes} bytes as too large`, {
    hint: 'raise max.message.bytes of the topic or make the records smaller',
    cause,
  });
}

export function kafkaOffsetOutOfRange(
  position: { readonly topic: string; readonly partition: number; readonly offset: bigint },
  held: { readonly earliest: bigint; readonly latest: bigint },
): ServiceError {
  return serviceError.discontinuity(
    'KAFKA_OFFSET_OUT_OF_RANGE',
    `${position.topic}/${position.partition}: offset ${String(position.offset)} is not held, ` +
      `the broker has ${String(held.earliest)} until ${String(held.latest)}`,
    { hint: 'decide where to continue: records were deleted by retention, or the topic was made anew' },
  );
}
