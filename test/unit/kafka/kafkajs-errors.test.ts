import { describe, expect, it } from 'vitest';
import { toServiceError } from '../../../src/kafka/kafkajs/kafkajs-errors.ts';

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
