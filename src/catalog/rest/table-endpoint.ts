/** The endpoint of one table. */
export const tableEndpoint: string = '/v1/{prefix}/namespaces/{namespace}/tables/{table}';
