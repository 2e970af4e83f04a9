/**
 * Two tiers: `npm test` runs what every change must pass, `npm run test:full` everything. A spec named
 * `.full.spec.ts` belongs to the full tier only. Parts of the full tier can be run by name.
 */

/** Set to `full` it lets jest see the specs of the full tier. */
export const TIER = 'TIER';

export const isOfFullTier = (path) => path.endsWith('.full.spec.ts');

/** By name: the specs of a part, and the changes after which to run it. */
export const PARTS = {
  unit: {
    includes: (path) => !/\.(db|kafka|own|alone|full)\./.test(path) && !/^test\/e2e\//.test(path),
    after: 'any change; needs no database',
  },
  integration: {
    includes: (path) => /\.db\./.test(path),
    after: 'SQL, a table, a grant, an adapter for PostgreSQL',
  },
  e2e: {
    includes: (path) => /^test\/e2e\//.test(path),
    after: 'an endpoint, the stream, a process, the launcher',
  },
  streams: {
    includes: (path) =>
      /^(libs\/auction\/stream|libs\/auction\/api\/stream|libs\/socket)\/|^test\/e2e\/.*stream/.test(path),
    after: 'the stream: connection, outbox, resume, back-pressure',
  },
  kafka: {
    includes: (path) => /\.kafka\.|^libs\/journal\//.test(path),
    after: '`libs/journal`, a setting of Kafka, what opens or moves a journal',
  },
  faults: {
    includes: (path) => /^test\/faults\//.test(path),
    after: 'recovery, fencing, supervision, how a lost connection or a full disk is handled',
  },
  fuzz: {
    includes: (path) => /^test\/fuzz\//.test(path),
    after: 'parsing, validation, an endpoint, tokens',
  },
  simulator: {
    includes: (path) => /^test\/simulator\//.test(path),
    after: 'the rules, an owner, reservations, streams, projections',
  },
  planted: {
    includes: (path) => /^test\/(planted-bugs\/|simulator\/campaign)/.test(path),
    after: 'the simulator, the fault campaign, the fuzz run, or code that a planted bug names',
  },
  upgrade: {
    includes: (path) => /^test\/upgrade\/|upgrade/.test(path),
    after: 'an event, a migration, a format on disk',
  },
  operations: {
    includes: (path) =>
      /^(apps\/cli|apps\/launcher|libs\/auction\/proof|test\/(operations|launcher|deploy))\/|^test\/e2e\/.*(operat|backup|alert|launch)/.test(
        path,
      ),
    after: 'a command of the terminal, backup and restore, manifests, alerts',
  },
};

export function unknownParts(names) {
  return names.filter((name) => !Object.hasOwn(PARTS, name));
}

/** Specs of the named parts, each once, in the order of `paths`. */
export function specsOf(parts, paths) {
  return paths.filter((path) => parts.some((part) => PARTS[part].includes(path)));
}
