export { describeConfig, redactedConfig } from './describe.js';
export { type Environment, environment } from './environment.js';
export { ConfigError, type ConfigOfGroups, loadConfig, type SettingGroups } from './load.js';
export { bytesOf, durationOf } from './parse.js';
export { type ConfigOf, type Declarations, type Declared, declareSettings, type Setting, type SettingGroup } from './setting.js';
