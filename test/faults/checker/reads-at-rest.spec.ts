import { describe, expect, it } from '@jest/globals';
import type { ApiAnswer } from '#libs/client/api-client.js';
import { OracleArchive } from '../../simulator/oracle/archive.js';
import type { AuctionFile } from '../../simulator/oracle/auction-file.js';
import type { Insistence } from '../load/caller.js';
import { Findings } from './findings.js';
import { readAll } from './reads-at-rest.js';

const IDS = Array.from({ length: 40 }, (_, index) => `0a000000-0000-8000-8000-0000000000${index + 10}`);

function answer(status: number, text: string): ApiAnswer {
  return { status, headers: {}, headerNames: [], text, body: {} };
}

const GATEWAYS = 2;
/** An empty page. */
function nothing(path: string): ApiAnswer {
  return answer(200, path.startsWith('/v1/quotes') ? '{"quotes":[]}' : '{"auctions":[]}');
}
const GONE = answer(404, '{"error":"auction_not_found"}');

/**
 * The findings if timelines are answered like this by every gateway, or only by the second, and the most tries
 * for one read.
 */
async function readAtRest(
  timeline: ApiAnswer | undefined,
  isEverywhere = true,
): Promise<{ findings: Findings; tries: number[] }> {
  const archive = new OracleArchive();
  for (const id of IDS) {
    const file: Pick<AuctionFile, 'id' | 'stage' | 'stories'> = {
      id,
      stage: 'COMPLETED',
      stories: new Map([['olga', []]]),
    };
    archive.files.set(id, file as AuctionFile);
  }
  const findings = new Findings();
  const tries: number[] = [];
  const insist = (path: string, { tries: most, gateway }: Insistence): Promise<ApiAnswer | undefined> => {
    const isGood = gateway === 0 && !isEverywhere;
    if (isGood || !path.includes('/events')) return Promise.resolve(nothing(path));
    tries.push(most);
    return Promise.resolve(timeline);
  };
  await readAll([{ account: 'olga', name: 'originator-2', gateways: GATEWAYS, insist }], archive, findings);
  return { findings, tries };
}

it('a read without the right answer at rest is a violation with its route and code, and the other reads still happen', async () => {
  const { findings } = await readAtRest(answer(503, '{"error":"audit_timeline_incomplete"}'));
  expect(findings.checked.get('auctions read at rest')).toBe(GATEWAYS * IDS.length);
  expect(findings.lines).toContainEqual(
    expect.stringMatching(
      /^VIOLATION at rest everything is read: GET \/v1\/auctions\/\{auctionID\}\/events is answered 503 audit_timeline_incomplete: .* \(80 of this sort\)$/,
    ),
  );
});

it('a read without any answer is a violation too, and a fault everywhere is not waited for everywhere', async () => {
  const { findings, tries } = await readAtRest(undefined);
  expect(findings.violations).toContainEqual(expect.stringContaining('is answered with nothing'));
  expect(tries[0]).toBeGreaterThan(10);
  expect(tries.at(-1)).toBeLessThan(5);
});

it('a read that only one gateway does not answer is a violation', async () => {
  const { findings } = await readAtRest(answer(503, '{"error":"completed_projection_unavailable"}'), false);
  expect(findings.violations).toContainEqual(
    expect.stringMatching(/answered 503 .*: gateway-1: originator-2 reads/),
  );
  expect(findings.violations).not.toContainEqual(expect.stringContaining('gateway-0'));
});

describe('a read of an auction by an account that is not a party', () => {
  /** The findings if a read by an account that is not a party is answered like this. */
  async function asksInVain(told: ApiAnswer): Promise<Findings> {
    const archive = new OracleArchive();
    const file: Pick<AuctionFile, 'id' | 'stage' | 'stories'> = {
      id: IDS[0] ?? '',
      stage: 'COMPLETED',
      stories: new Map([['olga', []]]),
    };
    archive.files.set(file.id, file as AuctionFile);
    const findings = new Findings();
    const insist = (path: string, { status }: Insistence): Promise<ApiAnswer> =>
      Promise.resolve(status === 404 ? told : nothing(path));
    await readAll([{ account: 'moe', name: 'maker-9', gateways: GATEWAYS, insist }], archive, findings);
    return findings;
  }

  it('must find nothing at each gateway, and is counted', async () => {
    const findings = await asksInVain(GONE);
    expect(findings.violations).toEqual([]);
    expect(findings.checked.get('timelines asked for by strangers at rest')).toBe(GATEWAYS);
  });

  it('is a violation if the auction is shown', async () => {
    const { violations } = await asksInVain(answer(200, '{}'));
    expect(violations).toContainEqual(expect.stringContaining('strangers see nothing: moe reads'));
  });

  it('is a violation if the answer is anything else', async () => {
    const { violations } = await asksInVain(answer(503, '{"error":"audit_unavailable"}'));
    expect(violations).toContainEqual(expect.stringContaining('is answered 503 audit_unavailable'));
  });
});
