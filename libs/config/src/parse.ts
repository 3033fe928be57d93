import type { Setting } from './setting.js';

const DURATION_UNITS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTE_UNITS = { b: 1, kb: 1_024, mb: 1_048_576, gb: 1_073_741_824 } as const;

/** Thrown with the half-sentence that follows the variable's name in the list of mistakes; never repeats the value of a secret. */
export class SettingMistake extends Error {
  override readonly name = 'SettingMistake';
}

/** Milliseconds of `250ms`, `30s`, `5m`, `12h`, `7d`; a bare `0` is allowed. */
export function durationOf(text: string): number {
  return quantity(text, DURATION_UNITS, 'a duration such as 250ms, 30s, 5m, 12h or 7d');
}

/** Bytes of `512b`, `64kb`, `1mb`. */
export function bytesOf(text: string): number {
  return quantity(text, BYTE_UNITS, 'a size such as 512b, 64kb or 1mb');
}

function quantity(text: string, units: Record<string, number>, expected: string): number {
  const match = /^(\d{1,12})\s*([a-z]*)$/.exec(text.trim().toLowerCase());
  const amount = Number(match?.[1]);
  const unit = units[match?.[2] ?? ''] ?? (amount === 0 && match?.[2] === '' ? 1 : undefined);
  if (!match || unit === undefined) throw new SettingMistake(`must be ${expected}`);
  return amount * unit;
}

function intOf(text: string): number {
  const value = Number(text);
  if (!/^[+-]?\d+$/.test(text) || !Number.isSafeInteger(value)) throw new SettingMistake('must be a whole number');
  return value;
}

function booleanOf(text: string): boolean {
  if (/^(true|1|yes|on)$/i.test(text)) return true;
  if (/^(false|0|no|off)$/i.test(text)) return false;
  throw new SettingMistake('must be true or false');
}

function urlOf(text: string, schemes: readonly string[]): string {
  const scheme = URL.parse(text)?.protocol.slice(0, -1);
  if (!scheme || !schemes.includes(scheme)) throw new SettingMistake(`must be an absolute URL with the scheme ${schemes.join(' or ')}`);
  return text;
}

function withinBounds(value: number, setting: { min?: number | string; max?: number | string }, unit = ''): void {
  const { min, max } = setting;
  const read = (bound: number | string) => (typeof bound === 'number' ? bound : /b$/i.test(bound) ? bytesOf(bound) : durationOf(bound));
  if (min !== undefined && value < read(min)) throw new SettingMistake(`must be at least ${min}${unit}`);
  if (max !== undefined && value > read(max)) throw new SettingMistake(`must be at most ${max}${unit}`);
}

/** @throws {SettingMistake} when the text is not a value of the setting. */
export function parseSetting(setting: Setting, text: string): unknown {
  switch (setting.type) {
    case 'string': {
      withinBounds(text.length, setting, ' characters long');
      if (setting.pattern && !new RegExp(`^(?:${setting.pattern.source})$`, setting.pattern.flags).test(text)) {
        throw new SettingMistake(`must match ${setting.pattern.source}`);
      }
      return text;
    }
    case 'int': {
      const value = intOf(text);
      withinBounds(value, setting);
      return value;
    }
    case 'duration': {
      const value = durationOf(text);
      withinBounds(value, setting);
      return value;
    }
    case 'bytes': {
      const value = bytesOf(text);
      withinBounds(value, setting);
      return value;
    }
    case 'boolean':
      return booleanOf(text);
    case 'url':
      return urlOf(text, setting.schemes ?? ['http', 'https']);
    case 'enum':
      if (!setting.values.includes(text)) throw new SettingMistake(`must be one of ${setting.values.join(', ')}`);
      return text;
    case 'list':
      return listOf(setting, text.split(','));
  }
}

/** The declared default as code receives it. A default that breaks its own declaration is a bug and throws. */
export function defaultOf(setting: Setting): unknown {
  if (setting.default === undefined) return undefined;
  if (setting.type === 'list') return listOf(setting, setting.default);
  return parseSetting(setting, String(setting.default));
}

function listOf(setting: Setting & { type: 'list' }, texts: readonly string[]): readonly unknown[] {
  const items = texts.map((item) => item.trim()).filter((item) => item !== '');
  withinBounds(items.length, setting, ' items');
  const parse: (item: string) => unknown = setting.of === 'int' ? intOf : setting.of === 'duration' ? durationOf : (item: string) => item;
  return Object.freeze(items.map((item) => parse(item)));
}
