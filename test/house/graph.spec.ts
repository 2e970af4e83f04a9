import { beforeAll, describe, expect, it } from '@jest/globals';
import { DEPCRUISE, FIXTURES, graphRules, type ToolOutcome, ROOT, runTool } from './tool.js';

interface Report {
  readonly summary: {
    readonly violations: readonly { readonly from: string; readonly rule: { readonly name: string } }[];
  };
}

const CONFIG = ['--config', `${ROOT}.dependency-cruiser.cjs`, '--no-cache'];

const BROKEN: readonly (readonly [rule: string, file: string])[] = [
  ['base-imports-only-what-it-may', 'libs/base/imports-auction.ts'],
  ['auction-imports-only-what-it-may', 'libs/auction/projections/imports-client.ts'],
  ['auction-rules-imports-only-these-parts', 'libs/auction/rules/imports-protocol.ts'],
  ['auction-protocol-imports-only-these-parts', 'libs/auction/protocol/imports-shard.ts'],
  ['auction-admission-imports-only-these-parts', 'libs/auction/admission/imports-settlement.ts'],
  ['auction-settlement-imports-only-these-parts', 'libs/auction/settlement/imports-admission.ts'],
  ['auction-projections-imports-only-these-parts', 'libs/auction/projections/imports-shard.ts'],
  ['auction-stream-imports-only-these-parts', 'libs/auction/stream/imports-projections.ts'],
  ['auction-shard-imports-only-these-parts', 'libs/auction/shard/imports-api.ts'],
  ['auction-api-imports-only-these-parts', 'libs/auction/api/imports-shard.ts'],
  ['auction-proof-imports-only-these-parts', 'libs/auction/proof/imports-stream.ts'],
  ['execution-imports-only-what-it-may', 'libs/execution/api/imports-client.ts'],
  ['execution-migrations-imports-only-these-parts', 'libs/execution/migrations/imports-protocol.ts'],
  ['execution-rules-imports-only-these-parts', 'libs/execution/rules/imports-protocol.ts'],
  ['execution-protocol-imports-only-these-parts', 'libs/execution/protocol/imports-cell.ts'],
  ['execution-venues-imports-only-these-parts', 'libs/execution/venues/imports-signer.ts'],
  ['execution-signer-imports-only-these-parts', 'libs/execution/signer/imports-venues.ts'],
  ['execution-projections-imports-only-these-parts', 'libs/execution/projections/imports-cell.ts'],
  ['execution-stream-imports-only-these-parts', 'libs/execution/stream/imports-venues.ts'],
  ['execution-cell-imports-only-these-parts', 'libs/execution/cell/imports-venues.ts'],
  ['execution-executor-imports-only-these-parts', 'libs/execution/executor/imports-cell.ts'],
  ['execution-api-imports-only-these-parts', 'libs/execution/api/imports-cell.ts'],
  ['every-part-of-execution-is-on-the-map', 'libs/execution/stray/not-on-the-map.ts'],
  ['data-imports-only-what-it-may', 'libs/data/api/imports-client.ts'],
  ['data-migrations-imports-only-these-parts', 'libs/data/migrations/imports-rules.ts'],
  ['data-rules-imports-only-these-parts', 'libs/data/rules/imports-store.ts'],
  ['data-store-imports-only-these-parts', 'libs/data/store/imports-ingest.ts'],
  ['data-ingest-imports-only-these-parts', 'libs/data/ingest/imports-api.ts'],
  ['data-api-imports-only-these-parts', 'libs/data/api/imports-ingest.ts'],
  ['every-part-of-data-is-on-the-map', 'libs/data/stray/not-on-the-map.ts'],
  ['practice-imports-only-what-it-may', 'libs/practice/imports-execution.ts'],
  ['every-part-of-auction-is-on-the-map', 'libs/auction/stray/not-on-the-map.ts'],
  ['rules-are-pure', 'libs/auction/rules/imports-protocol.ts'],
  ['rules-are-pure', 'libs/auction/rules/imports-platform.ts'],
  ['rules-are-pure', 'libs/auction/rules/reads-a-file.ts'],
  ['rules-are-pure', 'libs/auction/rules/imports-a-package.ts'],
  ['rules-are-pure', 'libs/execution/rules/imports-protocol.ts'],
  ['rules-are-pure', 'libs/data/rules/imports-store.ts'],
  ['rules-are-pure', 'libs/practice/matching/imports-platform.ts'],
  ['rules-are-pure', 'libs/base/imports-a-package.ts'],
  ['platform-imports-only-what-it-may', 'libs/platform/imports-journal.ts'],
  ['journal-imports-only-what-it-may', 'libs/journal/imports-auction.ts'],
  ['identity-imports-only-what-it-may', 'libs/identity/imports-edge.ts'],
  ['client-imports-only-what-it-may', 'libs/client/imports-edge.ts'],
  ['edge-imports-only-what-it-may', 'libs/edge/imports-auction.ts'],
  ['ledger-imports-only-what-it-may', 'libs/ledger/imports-journal.ts'],
  ['link-imports-only-what-it-may', 'libs/link/imports-shard.ts'],
  ['projecting-imports-only-what-it-may', 'libs/projecting/imports-shard.ts'],
  ['schema-imports-only-what-it-may', 'libs/schema/imports-shard.ts'],
  ['shard-imports-only-what-it-may', 'libs/shard/imports-edge.ts'],
  ['socket-imports-only-what-it-may', 'libs/socket/imports-shard.ts'],
  ['every-lib-is-on-the-map', 'libs/stray/not-on-the-map.ts'],
  ['production-never-imports-testing', 'libs/shard/imports-testing.ts'],
  ['libs-never-import-apps', 'libs/platform/imports-an-app.ts'],
  ['apps-never-import-each-other', 'apps/owner/imports-gateway.ts'],
  ['the-launcher-knows-settings-only', 'apps/launcher/imports-owner.ts'],
  ['replay-rests-on-the-rules-alone', 'apps/replay/imports-platform.ts'],
  ['replay-rests-on-the-rules-alone', 'apps/replay/imports-a-package.ts'],
  ['traces-are-begun-through-their-port', 'libs/shard/imports-the-tracing-packages.ts'],
  ['nothing-imports-the-workbench', 'libs/shard/imports-the-bench.ts'],
  ['acyclic', 'libs/shard/circle-left.ts'],
  ['resolvable', 'libs/shard/imports-nothing-there.ts'],
  ['packages-are-production-dependencies', 'apps/owner/imports-a-test-package.ts'],
  ['packages-are-production-dependencies', 'apps/owner/imports-an-unlisted-package.ts'],
  ['packages-are-listed', 'bench/imports-an-unlisted-package.ts'],
];

describe('the graph of libs and apps', () => {
  let reported: string[];
  let exitCode: number;

  beforeAll(async () => {
    const cruise = (format: string): Promise<ToolOutcome> =>
      runTool(DEPCRUISE, [...CONFIG, '--output-type', format, 'apps', 'bench', 'libs'], FIXTURES);
    ({ exitCode } = await cruise('err'));
    const { stdout } = await cruise('json');
    const { violations } = (JSON.parse(stdout) as Report).summary;
    reported = violations.map(({ rule, from }) => `${rule.name}: ${from}`).sort();
  }, 60_000);

  it('reports every wrong import of the fixtures and nothing else', () => {
    expect(reported).toEqual(BROKEN.map(([rule, file]) => `${rule}: ${file}`).sort());
  });

  it('ends with an error', () => {
    expect(exitCode).toBeGreaterThan(0);
  });

  it('has no rule that the fixtures do not break', () => {
    const seen = new Set(BROKEN.map(([rule]) => rule));
    expect(
      graphRules()
        .map(({ name }) => name)
        .filter((name) => !seen.has(name)),
    ).toEqual([]);
  });
});
