import { describe, expect, it } from 'vitest';
import { answerError, kafkaCode, toServiceError } from '../../../src/kafka/kafkajs/kafkajs-errors.ts';

/** As kafkajs throws it for topics that could not be made. */
class TopicErrors extends Error {
  readonly errors: readonly Error[];

  constructor(code: number) {
    super('Topic creation errors');
    this.errors = [Object.assign(new Error('Topic authorization failed'), { code, type: 'TOPIC_AUTHORIZATION_FAILED' })];
  }
}

describe('an error of kafkajs', () => {
  it('with those of several topics in it is the first of them: what is not allowed is said by its name', () => {
    const error = toServiceError(new TopicErrors(29), 'create topic "orders.dlq"', 'orders.dlq');
    expect(error).toMatchObject({
      code: 'KAFKA_NOT_AUTHORIZED',
      kind: 'invalid',
      message: expect.stringContaining('orders.dlq') as string,
    });
    expect(error.hint).toContain('Create');
  });

  it('of what is not allowed names the topic, whatever was being done', () => {
    const denied = Object.assign(new Error('Topic authorization failed'), { code: 29, type: 'TOPIC_AUTHORIZATION_FAILED' });
    expect(toServiceError(denied, 'topic metadata', 'orders').message).toBe('topic metadata of "orders": the user may not use this topic');
  });
});

describe('an answer of a broker', () => {
  it('is said by the name that the protocol has for it, whether it refuses or may be another one later', () => {
    expect(answerError(44, 'create topic "a"', 'a')).toMatchObject({
      code: 'KAFKA_REFUSED',
      message: 'create topic "a": the broker refused with error 44 POLICY_VIOLATION',
    });
    expect(answerError(kafkaCode.notLeader, 'produce to a/0', 'a').message).toContain('error 6 NOT_LEADER_OR_FOLLOWER');
    expect(answerError(kafkaCode.inconsistentTopicId, 'fetch a/0', 'a').message).toContain('error 103 INCONSISTENT_TOPIC_ID');
    expect(answerError(kafkaCode.producerFenced, 'end', undefined).message).toContain('error 90 PRODUCER_FENCED');
    expect(answerError(999, 'fetch a/0', 'a').message).toContain('error 999');
  });

  it('that refuses a time says which setting of which topic takes it', () => {
    const { message, hint } = answerError(32, 'produce to orders.dlq/0', 'orders.dlq');
    expect(message).toBe('produce to orders.dlq/0: the broker refused with error 32 INVALID_TIMESTAMP');
    expect(hint).toContain('topic "orders.dlq"');
    expect(hint).toContain('message.timestamp.after.max.ms');
  });

  it('that refuses a session says between what the setting has to be', () => {
    const { kind, hint } = answerError(26, 'join group "demo"', undefined);
    expect(kind).toBe('invalid');
    expect(hint).toBe(
      'set sessionTimeout between group.min.session.timeout.ms (6s unless changed) and group.max.session.timeout.ms of the broker',
    );
  });
});
