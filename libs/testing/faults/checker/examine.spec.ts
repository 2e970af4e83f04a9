import { expect, it } from '@jest/globals';
import type { ApiAnswer } from '../../cluster/api-client.js';
import { Archive } from '../../simulator/oracle/archive.js';
import type { AuctionFile } from '../../simulator/oracle/auction-file.js';
import { readAll } from './examine.js';
import { Findings } from './findings.js';

const IDS = Array.from({ length: 40 }, (_, index) => `0a000000-0000-8000-8000-0000000000${index + 10}`);

function answer(status: number, text: string): ApiAnswer {
  return { status, headers: {}, headerNames: [], text, body: {} };
}

const GATEWAYS = 2;

/** What is found where timelines are answered like this, by each gateway or by the second alone, and how often each was asked for at most. */
async function readAtRest(
  timeline: ApiAnswer | undefined,
  isEverywhere = true,
): Promise<{ findings: Findings; tries: number[] }> {
  const archive = new Archive();
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
  const insist = (path: string, most: number, gateway: number): Promise<ApiAnswer | undefined> => {
    const isGood = gateway === 0 && !isEverywhere;
    if (isGood || !path.includes('/events')) return Promise.resolve(answer(200, '{}'));
    tries.push(most);
    return Promise.resolve(timeline);
  };
  await readAll([{ account: 'olga', name: 'originator-2', gateways: GATEWAYS, insist }], archive, findings);
  return { findings, tries };
}

it('a read that is not answered at rest is a violation with its route and code, and the others are read all the same', async () => {
  const { findings } = await readAtRest(answer(503, '{"error":"audit_timeline_incomplete"}'));
  expect(findings.checked.get('auctions read at rest')).toBe(GATEWAYS * IDS.length);
  expect(findings.lines).toContainEqual(
    expect.stringMatching(
      /^VIOLATION at rest everything is read: GET \/v1\/auctions\/\{auctionID\}\/events is answered 503 audit_timeline_incomplete: .* \(80 of this sort\)$/,
    ),
  );
});

it('so is one without an answer, and what is wrong everywhere is not waited for everywhere', async () => {
  const { findings, tries } = await readAtRest(undefined);
  expect(findings.violations).toContainEqual(expect.stringContaining('is answered with nothing'));
  expect(tries[0]).toBeGreaterThan(10);
  expect(tries.at(-1)).toBeLessThan(5);
});

it('so is one that one of the gateways does not answer', async () => {
  const { findings } = await readAtRest(answer(503, '{"error":"completed_projection_unavailable"}'), false);
  expect(findings.violations).toContainEqual(
    expect.stringMatching(/answered 503 .*: gateway-1: originator-2 reads/),
  );
  expect(findings.violations).not.toContainEqual(expect.stringContaining('gateway-0'));
});
