// The order of specs: the slow ones first, so that none of them is still running when the others are done. Jest knows how long a spec took where
// it ran before; a clean machine knows nothing, and the size of a file, which jest goes by there, tells little: the longest test is three lines.
import Sequencer from '@jest/test-sequencer';

/**
 * Specs of half a minute and more, the slowest first; the two that run two of each service not side by side. One that is missing here, or gone,
 * costs nothing but time.
 */
const SLOW = [
  'test/fault/kills/separate-services.kafka.e2e',
  'test/fault/kills/in-one-process.e2e',
  'test/e2e/scenarios.e2e',
  'test/fault/outages/rolling.kafka.e2e',
  'services/platform/src/server.e2e',
  'test/fault/outages/network.e2e',
  'test/fault/outages/database.e2e',
  'test/fault/outages/disk.e2e',
  'test/fault/outages/separate-services.kafka.e2e',
  'services/platform/src/demo.e2e',
  'test/e2e/scenarios-replicas.kafka.e2e',
  'test/load/bench.e2e',
  'test/e2e/switching.kafka.e2e',
  'test/e2e/killed-in-flight.e2e',
  'test/fault/races/requests.e2e',
  'services/inbox/e2e/session.browser.e2e',
  'services/inbox/e2e/deciding.browser.e2e',
  'services/inbox/e2e/fields.browser.e2e',
  'services/inbox/e2e/shown.browser.e2e',
  'services/inbox/e2e/versions.browser.e2e',
  'test/e2e/scenarios-services.kafka.e2e',
  'test/telemetry/traces-services.kafka.e2e',
  'test/matrix/matrix.e2e',
  'test/fault/races/commands.int',
  'libs/event-bus/src/kafka/kafka-event-bus.kafka.int',
  'libs/event-bus/src/kafka/kafka-outage.kafka.int',
  'libs/event-bus/src/store/store-event-bus.int',
  'libs/database/src/embedded/embedded.int',
  'libs/event-bus/src/kafka/kafka-order.kafka.int',
  'libs/event-bus/src/kafka/connection/security.kafka.int',
  'services/monitoring/src/processes.int',
  'libs/timers/src/timer-loop.int',
  'services/decisions/src/race.int',
];

/** Place in the list; behind all of it when not there. */
function place({ path }) {
  const at = SLOW.findIndex((name) => path.replaceAll('\\', '/').includes(`/${name}.spec.`));
  return at < 0 ? SLOW.length : at;
}

// biome-ignore lint/style/noDefaultExport: jest asks for one.
export default class SlowestFirst extends Sequencer {
  sort(tests) {
    const sorted = super.sort(tests);
    if (sorted.every(({ duration }) => duration !== undefined)) return sorted;
    // Stable: what is not in the list stays in jest's order.
    return sorted.toSorted((one, other) => place(one) - place(other));
  }
}
