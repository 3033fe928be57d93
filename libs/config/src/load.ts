import { defaultOf, parseSetting, SettingMistake } from './parse.js';
import type { ConfigOf, Declared, SettingGroup } from './setting.js';

// biome-ignore lint/suspicious/noExplicitAny: a group's rules take its own config, so groups of different settings share no narrower type.
export type SettingGroups = Record<string, SettingGroup<any>>;

export type ConfigOfGroups<G extends SettingGroups> = { readonly [K in keyof G]: ConfigOf<G[K]['settings']> };

/** Everything that is wrong with the configuration, at once. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
  constructor(readonly mistakes: readonly string[]) {
    super(
      `The configuration has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((m) => `  - ${m}`).join('\n')}`,
    );
  }
}

/**
 * Reads every declared setting from the environment. An empty variable counts as not set.
 * @throws {ConfigError} listing every mistake of every group; rules between settings are judged once all values parse.
 */
export function loadConfig<const G extends SettingGroups>(groups: G, env: Readonly<Record<string, string | undefined>>): ConfigOfGroups<G> {
  const mistakes: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [name, group] of Object.entries(groups)) {
    const values: Record<string, unknown> = {};
    let parsed = true;
    for (const [key, setting] of Object.entries<Declared>(group.settings)) {
      const result = readSetting(setting, env[setting.env]);
      if ('mistake' in result) {
        mistakes.push(`${setting.env} ${result.mistake}.`);
        parsed = false;
      } else values[key] = result.value;
    }
    config[name] = Object.freeze(values);
    if (!parsed) continue;
    for (const rule of group.rules) {
      const mistake = rule(values as never);
      if (mistake) mistakes.push(mistake);
    }
  }
  // One variable may serve several groups; its mistake is said once.
  if (mistakes.length > 0) throw new ConfigError([...new Set(mistakes)]);
  return Object.freeze(config) as ConfigOfGroups<G>;
}

function readSetting(setting: Declared, text: string | undefined): { value: unknown } | { mistake: string } {
  if (text === undefined || text.trim() === '') {
    const value = defaultOf(setting);
    if (value === undefined && !setting.optional) return { mistake: `is not set: ${setting.meaning}`.replace(/\.$/, '') };
    return { value };
  }
  try {
    return { value: parseSetting(setting, text.trim()) };
  } catch (error) {
    if (!(error instanceof SettingMistake)) throw error;
    return { mistake: setting.secret ? error.message : `${error.message}, not ${JSON.stringify(text)}` };
  }
}
