/**
 * Enforces the graph of docs/understand/architecture.md. Each lib lists all it may import; everything else is
 * forbidden. `test/house/fixtures` breaks every rule once, and a test checks that each is reported.
 */
const MAY_IMPORT = {
  base: [],
  platform: ['base'],
  journal: ['base', 'platform'],
  identity: ['base', 'platform'],
  client: ['base', 'platform'],
  edge: ['base', 'platform'],
  ledger: ['base', 'platform'],
  link: ['base', 'platform'],
  shard: ['base', 'journal', 'link', 'platform'],
  socket: ['base', 'platform'],
  projecting: ['base', 'journal', 'platform'],
  auction: [
    'base',
    'edge',
    'identity',
    'journal',
    'ledger',
    'link',
    'platform',
    'projecting',
    'shard',
    'socket',
  ],
  execution: [
    'base',
    'edge',
    'identity',
    'journal',
    'ledger',
    'link',
    'platform',
    'projecting',
    'shard',
    'socket',
  ],
  data: ['base', 'edge', 'identity', 'journal', 'platform', 'projecting'],
  practice: ['base', 'platform'],
  schema: ['auction', 'base', 'data', 'execution', 'identity', 'journal', 'ledger', 'platform'],
};

/** What each part of a service may import from its other parts. */
const PARTS_OF_SERVICES = {
  auction: {
    rules: [],
    protocol: ['rules'],
    admission: ['rules', 'protocol'],
    settlement: ['rules', 'protocol'],
    projections: ['rules', 'protocol'],
    stream: ['rules', 'protocol'],
    shard: ['rules', 'protocol', 'admission', 'settlement', 'projections', 'stream'],
    api: ['rules', 'protocol', 'admission', 'projections', 'stream'],
    proof: ['rules', 'protocol', 'settlement', 'projections', 'shard'],
  },
  execution: {
    migrations: [],
    rules: [],
    protocol: ['rules'],
    venues: ['rules', 'protocol'],
    signer: ['rules', 'protocol'],
    projections: ['rules', 'protocol', 'venues'],
    stream: ['rules', 'protocol', 'projections'],
    cell: ['rules', 'protocol'],
    executor: ['rules', 'protocol', 'venues', 'signer'],
    api: ['rules', 'protocol', 'venues', 'projections', 'stream'],
  },
  data: {
    migrations: [],
    rules: [],
    store: ['rules'],
    ingest: ['rules', 'store'],
    api: ['rules', 'store'],
  },
};

/** By part, files with more imports: a gateway starts after a snapshot, in the format that the shard writes. */
const EXTRA_IMPORTS = {
  'auction/api': ['^libs/auction/api/stream/starting-point\\.'],
};

/** The rules of each service, and the types that they use. */
const PURE = '^libs/(base|auction/rules|data/rules|execution/rules|practice/matching)/';

const TESTS = '\\.spec\\.ts$|^libs/testing/|^test/';

function libRules([lib, allowed]) {
  return {
    name: `${lib}-imports-only-what-it-may`,
    comment: `libs/${lib} may import ${allowed.length === 0 ? 'no other lib' : allowed.join(', ')}.`,
    severity: 'error',
    // A test against a real database may need the schemas of others.
    from: { path: `^libs/${lib}/`, pathNot: '\\.db(\\.full)?\\.spec\\.ts$' },
    to: { path: '^libs/', pathNot: `^libs/(${[lib, 'testing', ...allowed].join('|')})/` },
  };
}

function partRules([service, parts]) {
  const rules = Object.entries(parts).map(([part, allowed]) => ({
    name: `${service}-${part}-imports-only-these-parts`,
    comment: `libs/${service}/${part} may import ${allowed.length === 0 ? 'no other part' : allowed.join(', ')}.`,
    severity: 'error',
    // A test against a real database may need the tables of others.
    from: {
      path: `^libs/${service}/${part}/`,
      pathNot: ['\\.db(\\.full)?\\.spec\\.ts$', ...(EXTRA_IMPORTS[`${service}/${part}`] ?? [])],
    },
    to: { path: `^libs/${service}/`, pathNot: `^libs/${service}/(${[part, ...allowed].join('|')})/` },
  }));
  const onTheMap = {
    name: `every-part-of-${service}-is-on-the-map`,
    comment: `Every file of ${service} belongs to one of its parts in PARTS_OF_SERVICES.`,
    severity: 'error',
    from: { path: `^libs/${service}/`, pathNot: `^libs/${service}/(${Object.keys(parts).join('|')})/` },
    to: {},
  };
  return [...rules, onTheMap];
}

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...Object.entries(MAY_IMPORT).map(libRules),
    ...Object.entries(PARTS_OF_SERVICES).flatMap(partRules),
    {
      name: 'every-lib-is-on-the-map',
      comment: 'A new lib is entered in MAY_IMPORT before anything else.',
      severity: 'error',
      from: { path: '^libs/', pathNot: `^libs/(${[...Object.keys(MAY_IMPORT), 'testing'].join('|')})/` },
      to: {},
    },
    {
      name: 'rules-are-pure',
      comment:
        'The rules import nothing: no node module, no package, no other lib. The journal alone decides.',
      severity: 'error',
      from: { path: PURE, pathNot: TESTS },
      to: { pathNot: PURE },
    },
    {
      name: 'production-never-imports-testing',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: TESTS },
      to: { path: '^libs/testing/|\\.spec\\.ts$|^test/' },
    },
    {
      name: 'libs-never-import-apps',
      severity: 'error',
      from: { path: '^libs/' },
      to: { path: '^apps/' },
    },
    {
      name: 'apps-never-import-each-other',
      comment: 'Code that two apps need belongs in a lib.',
      severity: 'error',
      from: { path: '^apps/([^/]+)/', pathNot: '^apps/launcher/' },
      to: { path: '^apps/', pathNot: '^apps/$1/' },
    },
    {
      name: 'the-launcher-knows-settings-only',
      comment: 'It starts the other apps and checks their settings first; it uses nothing else of them.',
      severity: 'error',
      from: { path: '^apps/launcher/' },
      to: { path: '^apps/', pathNot: '^apps/(launcher/|[^/]+/config\\.ts$)' },
    },
    {
      name: 'replay-rests-on-the-rules-alone',
      comment:
        'Anyone who checks an outcome needs to trust only the rules and Node: no package, no other lib.',
      severity: 'error',
      from: { path: '^apps/replay/', pathNot: TESTS },
      to: { pathNot: `${PURE}|^apps/replay/`, dependencyTypesNot: ['core'] },
    },
    {
      name: 'traces-are-begun-through-their-port',
      comment: 'The packages of OpenTelemetry are loaded only if traces are on, by the adapter of that port.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: '^libs/platform/tracing/' },
      to: { path: 'node_modules/@opentelemetry/|^libs/platform/tracing/(otlp-|span-batches)' },
    },
    {
      name: 'nothing-imports-the-workbench',
      comment: 'Measurements and build tools import the product, never the reverse.',
      severity: 'error',
      from: { path: '^(apps|libs)/' },
      to: { path: '^(bench|tools|dist)/' },
    },
    {
      name: 'acyclic',
      comment: 'Type imports count: a circle of types is a circle of ideas.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'resolvable',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'packages-are-production-dependencies',
      comment: 'Packages that run in production are listed under dependencies.',
      severity: 'error',
      from: { path: '^(apps|libs)/', pathNot: TESTS },
      to: { dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown', 'npm-optional', 'npm-peer'] },
    },
    {
      name: 'packages-are-listed',
      severity: 'error',
      from: { path: `${TESTS}|^(bench|tools)/` },
      to: { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|dist\\.next|test/house/fixtures)/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: `${__dirname}/tsconfig.json` },
    webpackConfig: { fileName: `${__dirname}/tools/graph/resolve.cjs` },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
    cache: { folder: 'node_modules/.cache/dependency-cruiser', strategy: 'content' },
  },
};
