import { ServiceError, serviceError } from '../base/errors.ts';
import type { HttpFailures } from '../base/http-exchange.ts';

const certificateHint =
  'let NODE_EXTRA_CA_CERTS name a file with the authority that signed the registry’s certificate, and schemaRegistry.url the host that it is for';
const hint = 'check that the registry runs, and schemaRegistry.url';

export const registryFailures: HttpFailures = {
  unavailable: (detail, cause) =>
    serviceError.unavailable('REGISTRY_UNAVAILABLE', `the schema registry does not answer: ${detail}`, {
      hint: /certificate/i.test(detail) ? certificateHint : hint,
      cause,
    }),
  outcomeUnknown: (detail, cause) =>
    serviceError.unavailable('REGISTRY_UNAVAILABLE', `the schema registry did not answer: ${detail}`, { hint, cause }),
  invalidAnswer: (shown, problem) =>
    serviceError.unavailable('REGISTRY_ANSWER_INVALID', `the schema registry's answer to ${shown} ${problem}`, {
      hint: 'check that schemaRegistry.url is where Confluent’s API begins; a redirect is not followed, give the address it leads to',
    }),
};

/** What the registry said in place of an answer. Waited for: a proxy, a broken node or a right that is being given mend themselves. */
export function registryRefused(shown: string, status: number, message: string): ServiceError {
  const unauthorized = status === 401 || status === 403;
  return new ServiceError({
    code: unauthorized ? 'REGISTRY_UNAUTHORIZED' : 'REGISTRY_UNAVAILABLE',
    kind: 'unavailable',
    message: unauthorized
      ? `the schema registry does not accept the credentials (${status}): ${shown}: ${message}`
      : `the schema registry answers ${status}: ${shown}: ${message}`,
    hint: unauthorized ? 'check username and password, or token, of schemaRegistry, and the rights they have' : hint,
    context: { status },
  });
}

export function schemaUnknown(key: string): ServiceError {
  return serviceError.unavailable('SCHEMA_UNKNOWN', `the schema registry has no schema ${key}, which a record names`, {
    hint: 'if the schema is on its way it is found when it is there; if it never was, set schemaRegistry.onUnknownSchema: dead-letter, or check that the topic is written in the format of its route',
    context: { key },
  });
}
