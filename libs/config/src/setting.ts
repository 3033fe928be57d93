/** One configuration value: everything known about it, in one place. Parsing, checking, the boot log and the table in the docs all come from here. */
interface SettingBase {
  /** What it does, as one sentence of the docs table. */
  meaning: string;
  /** Never printed, whatever its value. */
  secret?: boolean;
  /** May be absent: the value is then `undefined`. */
  optional?: boolean;
}

export interface StringSetting extends SettingBase {
  type: 'string';
  default?: string;
  /** The whole value must match. */
  pattern?: RegExp;
  /** Bounds of the length in characters. */
  min?: number;
  max?: number;
}

export interface IntSetting extends SettingBase {
  type: 'int';
  default?: number;
  min?: number;
  max?: number;
}

/** Milliseconds in code; `250ms`, `30s`, `5m`, `12h` or `7d` outside. */
export interface DurationSetting extends SettingBase {
  type: 'duration';
  default?: string;
  min?: string;
  max?: string;
}

/** Bytes in code; `512b`, `64kb` or `1mb` outside (1 kb = 1,024 bytes). */
export interface BytesSetting extends SettingBase {
  type: 'bytes';
  default?: string;
  min?: string;
  max?: string;
}

export interface BooleanSetting extends SettingBase {
  type: 'boolean';
  default?: boolean;
}

/** An absolute URL, kept as written. */
export interface UrlSetting extends SettingBase {
  type: 'url';
  default?: string;
  /** Accepted schemes without the colon; http and https when omitted. */
  schemes?: readonly string[];
}

export interface EnumSetting extends SettingBase {
  type: 'enum';
  values: readonly string[];
  default?: string;
}

/** Comma-separated values; blanks around them are dropped. */
export interface ListSetting extends SettingBase {
  type: 'list';
  of?: 'string' | 'int' | 'duration';
  default?: readonly string[];
  /** Bounds of the number of items. */
  min?: number;
  max?: number;
}

export type Setting = StringSetting | IntSetting | DurationSetting | BytesSetting | BooleanSetting | UrlSetting | EnumSetting | ListSetting;

type ValueOf<S> = S extends { type: 'int' | 'duration' | 'bytes' }
  ? number
  : S extends { type: 'boolean' }
    ? boolean
    : S extends { type: 'enum'; values: readonly (infer V)[] }
      ? V
      : S extends { type: 'list'; of: 'int' | 'duration' }
        ? readonly number[]
        : S extends { type: 'list' }
          ? readonly string[]
          : string;

/** A setting's declaration with its environment variable. */
export type Declared<S extends Setting = Setting> = S & { env: string };

export type Declarations = Record<string, Declared>;

/** What code receives: the declaration's names with typed values. */
export type ConfigOf<D extends Declarations> = {
  readonly [K in keyof D]: D[K] extends { optional: true } ? ValueOf<D[K]> | undefined : ValueOf<D[K]>;
};

/** Settings of one service or lib, with the rules that look at more than one of them. */
export interface SettingGroup<D extends Declarations = Declarations> {
  /** Heading in the docs table. */
  title: string;
  settings: D;
  /** Each answers a sentence that says what is wrong and what to do, or nothing. Called only when every value parsed. */
  rules: readonly ((config: ConfigOf<D>) => string | undefined)[];
}

export function declareSettings<const D extends Declarations>(
  title: string,
  settings: D,
  rules: readonly ((config: ConfigOf<NoInfer<D>>) => string | undefined)[] = [],
): SettingGroup<D> {
  return { title, settings, rules };
}
