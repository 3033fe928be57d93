import { environment } from '@countersign/config';
import { CannotStart } from './cannot-start.js';
import { dataConfig } from './config.js';
import { credentialsPath, readCredentials } from './credentials.js';
import { lockHolder } from './data/lock.js';
import { runAgent } from './demo/agent.js';
import { ServerError } from './demo/server.js';

try {
  const { dataDir } = dataConfig(environment());
  const credentials = readCredentials(dataDir);
  if (!credentials) {
    const server = lockHolder(dataDir);
    throw new CannotStart(
      server
        ? `${credentialsPath(dataDir)} is missing. Restart the server (\`${server.command}\`, process ${server.pid}): it makes it anew.`
        : `${dataDir} contains no credentials. Start the server first, in another terminal (\`npm start\`).`,
    );
  }
  await runAgent(credentials, (line) => process.stdout.write(`${line}\n`));
} catch (error) {
  process.exitCode = 1;
  if (error instanceof CannotStart) process.stderr.write(`${error.message}\n`);
  else if (error instanceof ServerError && error.status === 401) {
    const { dataDir } = dataConfig(environment());
    process.stderr.write(
      `The server refuses the agent's key (${error.code}): ${error.message} For another key delete ${credentialsPath(dataDir)} and restart the server.\n`,
    );
  } else if (error instanceof ServerError) process.stderr.write(`The server refused (${error.status} ${error.code}): ${error.message}\n`);
  else if (error instanceof TypeError && error.message === 'fetch failed') {
    process.stderr.write('The server is not responding. Start it first, in another terminal (`npm start`).\n');
  } else throw error;
}
