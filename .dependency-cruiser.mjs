// Who may import whom (docs/architecture.md). `scripts/lint-layering.mjs` cruises the sources with these rules, and first a seeded tree in
// which every rule is broken once: a rule that reports nothing there fails the lint.

import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { doorsOf } from './scripts/doors.mjs';
import { ROOT } from './scripts/run.mjs';

const SPEC = '\\.(unit|int|e2e)\\.spec\\.tsx?$';
/** What only tests run: specs, and the parts they are set up with. */
const FOR_TESTS = `${SPEC}|^services/[^/]+/src/(fixture|testing)/`;
/** The sources of what packages export. */
const DOORS = ['contracts', ...globSync('{libs,services}/*', { cwd: ROOT })]
  .filter((folder) => existsSync(join(ROOT, folder, 'package.json')))
  .flatMap((folder) => doorsOf(join(ROOT, folder)).map(({ source }) => `^${folder}/${source}$`.replaceAll('.', '\\.')));
const NEST = '^@nestjs/|/@nestjs/';
const PG = '^pg$|/node_modules/(@types/)?pg/';
const PURE = ['^libs/review/src/', '^services/[^/]+/src/.*decider\\.ts$'];

export const forbidden = [
  {
    name: 'no-cycles',
    comment: 'A cycle hides which of two files is the deeper one.',
    severity: 'error',
    from: {},
    to: { circular: true },
  },
  {
    name: 'libs-know-no-services',
    comment: 'A library serves any service; it cannot depend on one.',
    severity: 'error',
    from: { path: '^libs/' },
    to: { path: '^(services|test)/' },
  },
  {
    name: 'services-meet-in-events',
    comment: 'Services learn of each other by events and typed HTTP. Only platform composes them.',
    severity: 'error',
    from: { path: '^services/([^/]+)/', pathNot: ['^services/platform/', FOR_TESTS] },
    to: { path: '^(services|test)/', pathNot: '^services/$1/' },
  },
  {
    name: 'tests-may-stand-on-the-directory',
    comment:
      'Who is in a project is asked of the real directory in tests: a stand-in would agree with whatever they assume. Nobody else is.',
    severity: 'error',
    from: { path: `^services/([^/]+)/src/((fixture|testing)/|.*${SPEC})`, pathNot: '^services/platform/' },
    to: { path: '^(services|test)/', pathNot: '^services/($1/|directory/src/index\\.ts$)' },
  },
  {
    name: 'contracts-stand-alone',
    comment: 'Everybody imports the contracts, so they import nothing of ours and no framework.',
    severity: 'error',
    from: { path: '^contracts/' },
    to: { path: `^(libs|services|test)/|${NEST}|${PG}` },
  },
  {
    name: 'packages-by-their-door',
    comment: 'Another package is imported by its name, never by a path into its folders.',
    severity: 'error',
    from: { path: '^((?:libs|services)/[^/]+|contracts|test)/' },
    to: {
      path: '^(libs|services|contracts|test)/',
      pathNot: ['^$1/', '^(contracts|(libs|services)/[^/]+)/src/index\\.ts$', '\\.json$', ...DOORS],
    },
  },
  {
    name: 'rules-are-pure',
    comment: 'Deciders take state and time as arguments: no framework, database, network, file, clock or chance.',
    severity: 'error',
    from: { path: PURE, pathNot: SPEC },
    to: {
      path: [
        NEST,
        PG,
        '^(node:)?(crypto|fs|http|https|net|os|child_process|timers|worker_threads|perf_hooks)(/|$)',
        '/(typeorm|undici|kafkajs|fastify)/',
      ],
    },
  },
  {
    name: 'nest-at-the-edge',
    comment: 'Nest appears where a service is wired and meets HTTP or the bus, and nowhere else.',
    severity: 'error',
    from: {
      path: '^(libs|services|contracts)/',
      pathNot: [
        SPEC,
        '^libs/(http|service-host)/',
        '^libs/event-bus/src/nest',
        '^services/platform/',
        '/(main|consumers|app|gateway-app)\\.ts$',
        '/src/(fixture|testing)/',
        '\\.(module|controller|consumers?)\\.ts$',
        '/nest-[a-z-]+\\.ts$',
      ],
    },
    to: { path: NEST },
  },
  {
    name: 'kafka-behind-the-port',
    comment: "A driver's types do not leave its adapter, nor what the adapter is measured against.",
    severity: 'error',
    from: { path: '^(libs|services|contracts|test)/', pathNot: '^libs/event-bus/src/kafka|^test/load/bus/' },
    to: { path: '^kafkajs$|/node_modules/kafkajs/' },
  },
  {
    name: 'no-database-here',
    comment: 'These libraries run in a client or a rule, and controllers turn HTTP into commands: none talks to PostgreSQL.',
    severity: 'error',
    from: {
      path: '^(contracts|libs/(review|http|config|evidence|telemetry))/|^services/[^/]+/src/.*\\.controller\\.ts$',
      pathNot: SPEC,
    },
    to: { path: `${PG}|/node_modules/typeorm/|^libs/database/` },
  },
  {
    name: 'declared-dependencies',
    comment: 'A package lists what it imports; hoisting is an accident.',
    severity: 'error',
    from: { path: '^(libs|services|contracts)/', pathNot: `${SPEC}|^libs/testing/` },
    to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
  },
  {
    name: 'resolvable',
    comment: 'An import that leads nowhere would also hide from every other rule.',
    severity: 'error',
    from: {},
    // These exist as types only (@types/hast, @types/mdast): the compiler checks them.
    to: { couldNotResolve: true, pathNot: '^(hast|mdast)$' },
  },
];

export default {
  forbidden,
  options: {
    // TypeScript 7 has no JavaScript API, so the swc parser reads the sources; without it zero modules are found and nothing is ever reported.
    parser: 'swc',
    tsPreCompilationDeps: true,
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|generated|coverage)/' },
  },
};
