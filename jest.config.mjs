// One configuration, three projects by the cost a test's suffix states: unit, int (PostgreSQL), e2e (the running product).
const transpiled = ({ tsx }) => [
  '@swc/jest',
  {
    jsc: {
      target: 'es2024',
      parser: { syntax: 'typescript', decorators: true, tsx },
      transform: { legacyDecorator: true, decoratorMetadata: true, react: { runtime: 'automatic' } },
      keepClassNames: true,
    },
    module: { type: 'es6' },
    sourceMaps: 'inline',
  },
];
const shared = {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts', '.tsx'],
  moduleNameMapper: {
    '^@countersign/platform/fixture$': '<rootDir>/services/platform/src/fixture/server-process.ts',
    '^@countersign/review/fixture$': '<rootDir>/libs/review/src/review-fixture.ts',
    '^@countersign/([a-z-]+)/model$': '<rootDir>/libs/$1/src/model/model.ts',
    '^@countersign/([a-z-]+)/([a-z-]+)$': ['<rootDir>/libs/$1/src/$2.ts', '<rootDir>/services/$1/src/$2.ts'],
    '^@countersign/([a-z-]+)$': ['<rootDir>/libs/$1/src/index.ts', '<rootDir>/services/$1/src/index.ts', '<rootDir>/$1/src/index.ts'],
    '^(\\.{1,2}/.*)\\.js$': '$1',
  },
  transform: {
    '^.+\\.ts$': transpiled({ tsx: false }),
    '^.+\\.tsx$': transpiled({ tsx: true }),
  },
  modulePathIgnorePatterns: ['/dist/'],
  testPathIgnorePatterns: ['/node_modules/', '/dist/'],
};
/** What a test or a hook may take, in milliseconds: those that start real processes wait for a machine that is busy with others. */
const LIMITS = { unit: 10_000, int: 120_000, e2e: 120_000 };
// The server is there only for runs that have such tests.
const postgres = {
  globalSetup: '<rootDir>/libs/testing/jest/postgres-setup.mjs',
  globalTeardown: '<rootDir>/libs/testing/jest/postgres-teardown.mjs',
};
const preparedData = {
  globalSetup: '<rootDir>/libs/testing/jest/prepared-data.mjs',
  globalTeardown: '<rootDir>/libs/testing/jest/prepared-data-teardown.mjs',
};
export default {
  coverageProvider: 'v8',
  testSequencer: '<rootDir>/libs/testing/jest/slowest-first.mjs',
  projects: Object.entries(LIMITS).map(([cost, limit]) => ({
    ...shared,
    displayName: cost,
    globals: { TIME_LIMIT_MS: limit },
    setupFilesAfterEnv: ['<rootDir>/libs/testing/jest/time-limit.mjs'],
    testMatch: [`**/*.${cost}.spec.ts`],
    ...(cost === 'int' ? postgres : {}),
    ...(cost === 'e2e' ? preparedData : {}),
  })),
};
