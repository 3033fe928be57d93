import { createLogger, startTelemetry } from '@countersign/telemetry';
import { OtlpReceiver } from './otlp-receiver.js';

/**
 * Telemetry of this process, on, to a collector of its own. Turn it on before what is measured is made.
 * @returns `end` sends all that is left and turns it off.
 */
export async function collectTelemetry(more: Record<string, string> = {}): Promise<{
  receiver: OtlpReceiver;
  /** What telemetry says of itself, such as that it is used in a wrong way. */
  complaints: string[];
  end(): Promise<void>;
}> {
  const receiver = await new OtlpReceiver().listen();
  // The SDK reads the variables of its specification itself.
  const settings = { ...receiver.settings, ...more };
  const before = Object.fromEntries(Object.keys(settings).map((name) => [name, process.env[name]]));
  Object.assign(process.env, settings);
  const complaints: string[] = [];
  const logger = createLogger({ service: 'test', level: 'warn', destination: { write: (line: string) => void complaints.push(line) } });
  const telemetry = await startTelemetry({ endpoint: receiver.url }, { service: 'countersign-test', version: '0', logger });
  let ended: Promise<void> | undefined;
  return {
    receiver,
    complaints,
    end() {
      ended ??= telemetry.stop().then(async () => {
        for (const [name, value] of Object.entries(before)) {
          if (value === undefined) delete process.env[name];
          else process.env[name] = value;
        }
        await receiver.close();
      });
      return ended;
    },
  };
}
