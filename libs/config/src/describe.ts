import type { SettingGroups } from './load.js';
import type { Declared } from './setting.js';

/**
 * What the process runs with, for one line of the boot log: every variable with its value and, where it is not the default, that it was set.
 * Secrets do not appear, nor what a URL may hide one in: its user information and its query.
 */
export function redactedConfig(groups: SettingGroups, env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const setting of settingsOf(groups)) {
    const text = env[setting.env]?.trim();
    if (text) shown[setting.env] = setting.secret ? '(set)' : setting.type === 'url' ? withoutLogin(text) : text;
    else shown[setting.env] = setting.secret || setting.default === undefined ? '(not set)' : `${defaultText(setting)} (default)`;
  }
  return shown;
}

/** The Markdown table of the docs: a heading for each group, a row for each variable. */
export function describeConfig(groups: SettingGroups): string {
  return Object.values(groups)
    .map((group) =>
      [
        `### ${group.title}`,
        '',
        '| Variable | Value | Default | Meaning |',
        '|---|---|---|---|',
        ...Object.values<Declared>(group.settings).map(
          (s) => `| \`${s.env}\` | ${valueText(s)} | ${defaultCell(s)} | ${escapeCell(s.meaning)}${s.secret ? ' Secret.' : ''} |`,
        ),
        '',
      ].join('\n'),
    )
    .join('\n');
}

function settingsOf(groups: SettingGroups): Declared[] {
  return Object.values(groups).flatMap((group) => Object.values<Declared>(group.settings));
}

function valueText(setting: Declared): string {
  if (setting.type === 'enum') return setting.values.map((v) => `\`${v}\``).join(', ');
  const kind = setting.type === 'list' ? `list of ${setting.of ?? 'string'}` : setting.type;
  const { min, max } = { min: undefined, max: undefined, ...setting } as { min?: number | string; max?: number | string };
  if (min === undefined && max === undefined) return kind;
  return `${kind}, ${min ?? ''}…${max ?? ''}`;
}

function defaultText(setting: Declared): string {
  if (setting.default === undefined) return '';
  return Array.isArray(setting.default) ? setting.default.join(',') : String(setting.default);
}

function defaultCell(setting: Declared): string {
  if (setting.default === undefined) return setting.optional ? '' : 'required';
  return setting.secret ? '' : `\`${escapeCell(defaultText(setting))}\``;
}

function escapeCell(text: string): string {
  return text.replaceAll('|', '\\|');
}

function withoutLogin(text: string): string {
  const url = URL.parse(text);
  if (!url) return '(set)';
  if (url.username === '' && url.password === '' && url.search === '') return text;
  url.username = '';
  url.password = '';
  url.search = '';
  return url.href;
}
