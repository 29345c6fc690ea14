import { z } from 'zod';
import type { Secret } from '../base/secret.ts';
import { choiceField, secretField, textField } from '../base/setting-fields.ts';

/** `wait`: the table's batch waits until the registry has the schema; `dead-letter`: the records that name it are rejected. */
export type UnknownSchemaPolicy = 'wait' | 'dead-letter';

/** How to reach a schema registry that speaks Confluent's API. */
export interface RegistrySettings {
  /** Without a slash at its end; it holds no credentials. */
  readonly url: string;
  readonly auth: RegistryAuth | undefined;
  readonly onUnknownSchema: UnknownSchemaPolicy;
}

export type RegistryAuth =
  | { readonly kind: 'basic'; readonly username: string; readonly password: Secret }
  | { readonly kind: 'bearer'; readonly token: Secret };

export const registrySettings: z.ZodType<RegistrySettings> = z
  .strictObject({
    url: textField({
      description:
        'Where the registry’s API begins: `https://registry:8081`, of Apicurio `http://host:8080/apis/ccompat/v7`. Certificates are checked against the system’s authorities and `NODE_EXTRA_CA_CERTS`.',
      maxLength: 4_096,
      pattern: /^https?:\/\/[^/?#@\s]+(\/[^?#\s]*)?$/,
      patternHint: 'is no address of a registry (http:// or https://, without user, query and fragment)',
    }),
    username: textField({ description: 'User for basic authentication; Confluent Cloud: the API key.', maxLength: 1_000 }).optional(),
    password: secretField({ description: 'Password for basic authentication; Confluent Cloud: the API secret.' }).optional(),
    token: secretField({ description: 'Bearer token, instead of user and password.' }).optional(),
    onUnknownSchema: choiceField(['wait', 'dead-letter'], {
      description:
        'A record names a schema that the registry does not have: `wait` holds its table until the schema is there (it may be on its way from another data center), `dead-letter` rejects the record. A registry that does not answer is always waited for.',
      default: 'wait',
    }),
  })
  .transform(({ url, username, password, token, onUnknownSchema }, context): RegistrySettings => {
    const report = (key: string, message: string): void => {
      context.addIssue({ code: 'custom', path: [key], message });
    };
    if ((username === undefined) !== (password === undefined))
      report(username === undefined ? 'username' : 'password', 'user and password belong together');
    if (token !== undefined && username !== undefined) report('token', 'takes the place of user and password; set one of them');
    const auth: RegistryAuth | undefined =
      token !== undefined
        ? { kind: 'bearer', token }
        : username !== undefined && password !== undefined
          ? { kind: 'basic', username, password }
          : undefined;
    return { url: url.replace(/\/+$/, ''), auth, onUnknownSchema };
  });
