export type Environment = Readonly<Record<string, string | undefined>>;

/** Settings come from here and nowhere else; each is declared. */
export const environment = (): Environment => process.env;
