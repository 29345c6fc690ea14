import { z } from 'zod';
import { Secret } from '../base/secret.ts';
import { choiceField, textField, textMapField } from '../base/setting-fields.ts';

const maxCatalogs = 64;

/** A catalog of Iceberg tables. */
export interface CatalogSettings {
  readonly name: string;
  readonly type: 'hadoop' | 'jdbc' | 'rest';
  /** A URI, an absolute directory, or (until `config/` resolves it) a directory below `dataDir`. */
  readonly warehouse: string | undefined;
  readonly uri: string | undefined;
  /** Further settings by the names Iceberg's other clients know. */
  readonly properties: Readonly<Record<string, string>>;
  readonly credentials: ReadonlyMap<string, Secret>;
}

const catalog: z.ZodType<CatalogSettings> = z
  .strictObject({
    name: textField({
      description: 'Name of the catalog in this configuration.',
      maxLength: 200,
      pattern: /^[a-zA-Z0-9_][a-zA-Z0-9_-]*$/,
      patternHint: 'is no catalog name (letters, digits, underscores and hyphens)',
    }),
    type: choiceField(['hadoop', 'jdbc', 'rest'], {
      description:
        'Where it keeps its tables: directories of a warehouse (`hadoop`), an SQL database in the layout of the JDBC catalog (`jdbc`), a REST server (`rest`).',
    }),
    warehouse: textField({
      description:
        'Directory below `dataDir`, absolute directory, or URI that tables are made in; of a REST catalog the name of its warehouse. Required for `hadoop` and `jdbc`.',
      maxLength: 4_096,
    }).optional(),
    uri: textField({
      description: 'Of the database (`jdbc:sqlite:/path`, `jdbc:postgresql://host/db`) or the REST server. Required for `jdbc` and `rest`.',
      maxLength: 4_096,
    }).optional(),
    properties: textMapField({
      description:
        'Further settings, by the names of Iceberg’s catalog properties: `prefix`, `jdbc.schema-version`, `s3.endpoint`, `table-default.…`.',
      default: {},
    }),
    credentials: z
      .record(
        z.string(),
        z.union([z.string(), z.number()], { error: 'expected text' }).transform((raw) => new Secret(String(raw))),
      )
      .prefault({})
      .meta({
        description:
          'Settings that are secret: `token`, `credential`, `jdbc.user`, `jdbc.password`, `s3.access-key-id`, `s3.secret-access-key`; write them as ${ENV_NAME} or ${file:/run/secrets/name}.',
        default: {},
        'x-secret': true,
      }),
  })
  .transform((raw, context): CatalogSettings => {
    const { name, type, warehouse, uri, properties, credentials } = raw;
    if (type !== 'rest' && warehouse === undefined)
      context.addIssue({ code: 'custom', path: ['warehouse'], message: `is required for a ${type} catalog` });
    if (type !== 'hadoop' && uri === undefined)
      context.addIssue({ code: 'custom', path: ['uri'], message: `is required for a ${type} catalog` });
    for (const key of ['type', 'warehouse', 'uri']) {
      if (Object.hasOwn(properties, key))
        context.addIssue({ code: 'custom', path: ['properties', key], message: `is set by "${key}" of the catalog` });
    }
    return { name, type, warehouse, uri, properties, credentials: new Map(Object.entries(credentials)) };
  });

export const catalogList: z.ZodType<readonly CatalogSettings[]> = z
  .array(catalog)
  .max(maxCatalogs)
  .prefault([])
  .meta({ description: 'Catalogs of Iceberg tables.', default: [], maxItems: maxCatalogs });

/** All settings by the names of Iceberg's catalog properties, secrets among them. */
export function catalogProperties({ type, warehouse, uri, properties, credentials }: CatalogSettings): ReadonlyMap<string, string> {
  const secrets = [...credentials].map(([key, secret]) => [key, secret.reveal()] as const);
  const places = [
    ['type', type],
    ['warehouse', warehouse],
    ['uri', uri],
  ] as const;
  const stated = places.flatMap(([key, value]) => (value === undefined ? [] : [[key, value] as const]));
  return new Map([...Object.entries(properties), ...secrets, ...stated]);
}

/** The catalog as configuration of a session, secrets among it. */
export function catalogConf(settings: CatalogSettings): Readonly<Record<string, string>> {
  const key = `spark.sql.catalog.${settings.name}`;
  const entries = [...catalogProperties(settings)].map(([name, value]) => [`${key}.${name}`, value] as const);
  return { [key]: 'org.apache.iceberg.spark.SparkCatalog', ...Object.fromEntries(entries) };
}
