/** Variables of this process's environment. */
export const systemEnvironment: Readonly<Record<string, string | undefined>> = process.env;
