import { join } from 'node:path';
import { prepareData, spawnServer } from '@countersign/platform/fixture';
import { type Figure, measured } from '../figure.js';

export const SECOND_START: Figure = {
  name: 'second-start',
  title: 'second start to ready',
  topology:
    '`npm start` on data that a first start has made and an orderly end has left; from the start of the process to its line "is ready at".',
  beside: '',
  claims: [{ what: 'ready', unit: 's', value: (round) => measured(round, 'ours', 'ready_s'), better: 'less', required: 5, goal: 2 }],
  async open(stage) {
    const dataDir = join(stage.folder, 'data');
    await prepareData(dataDir);
    const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: stage.telemetry };
    return {
      sides: {
        ours: {
          async round() {
            const began = performance.now();
            const server = spawnServer(dataDir, environment);
            await server.printed(/is ready at/);
            const ready_s = (performance.now() - began) / 1_000;
            const { code, stderr } = await server.stop();
            if (code !== 0) throw new Error(`The server ended with ${code}: ${stderr}`);
            return { ready_s };
          },
          async close() {},
        },
      },
      async close() {},
    };
  },
};
