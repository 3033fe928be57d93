// docs/configuration.md, generated from the declarations of the settings; with --check it is only compared. Needs a build.
import { readFileSync, writeFileSync } from 'node:fs';
import { describeConfig } from '@countersign/config';
import { PLATFORM_GROUPS } from '../services/platform/dist/config.js';
import { ROOT } from './run.mjs';

const FILE = `${ROOT}docs/configuration.md`;
const text = `# Configuration

Set by environment variables. The server reports all invalid settings at once and does not start. This page is generated
(\`npm run configuration\`).

The all-in-one (\`npm start\`) needs none of them. It generates \`SECRETS_KEY\` (in \`DATA_DIR/secrets.json\`), derives \`PUBLIC_URL\` from \`HOST\` and
\`PORT\`, and allows webhooks to this machine (\`WEBHOOK_ALLOW_NETWORKS=127.0.0.0/8,::1/128\`) while \`HOST\` is a loopback address.

${describeConfig(PLATFORM_GROUPS).trimEnd()}
`;

if (process.argv.includes('--check')) {
  if (readFileSync(FILE, 'utf8') !== text) {
    console.error('docs/configuration.md is out of date. Run `npm run configuration`.');
    process.exit(1);
  }
} else writeFileSync(FILE, text);
