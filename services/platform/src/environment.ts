export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings come from here and nowhere else; each is declared in config.ts. */
// biome-ignore lint/style/noProcessEnv: the one place that reads it.
export const environment = (): Environment => process.env;
