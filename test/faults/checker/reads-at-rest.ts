import type { ApiAnswer } from '#libs/client/api-client.js';
import type { OracleArchive } from '../../simulator/oracle/archive.js';
import type { AuctionFile } from '../../simulator/oracle/auction-file.js';
import { Readings } from '../../simulator/oracle/readings.js';
import type { LoadCaller } from '../load/caller.js';
import type { Findings } from './findings.js';

const READABLE = 'at rest everything is read';
const READERS_AT_ONCE = 8;
/**
 * How often a read with a wrong answer is tried, and how many reads get that many tries: a fault everywhere is
 * not waited for everywhere.
 */
const INSISTS = { usually: 60, withoutPatience: 2 };
const PATIENCE = 16;
const FOUND = 200;
const NOT_FOUND = 404;
const PAGE = 50;

type Insistent = Pick<LoadCaller, 'account' | 'name' | 'gateways' | 'insist'>;

const WHAT = {
  view: 'auctions',
  timeline: 'timelines',
  ownQuotes: 'quotes of auctions',
  list: 'lists of auctions',
  quotes: 'lists of quotes',
} as const;
type Kind = keyof typeof WHAT;

const OF_AN_AUCTION = [
  { kind: 'view', tail: '', query: '' },
  { kind: 'timeline', tail: '/events', query: '?limit=1000' },
  { kind: 'ownQuotes', tail: '/quotes', query: '' },
] as const;
const OF_ALL = [
  { kind: 'list', route: '/v1/auctions' },
  { kind: 'quotes', route: '/v1/quotes' },
] as const;

interface Wish {
  readonly caller: Insistent;
  readonly gateway: number;
  /** Empty for a read of all auctions. */
  readonly id: string;
  readonly kind: Kind;
  readonly route: string;
  readonly path: string;
  /** NOT_FOUND for a reader that is not a party. */
  readonly status: typeof FOUND | typeof NOT_FOUND;
}

/**
 * Every account reads everything again, at rest and at each gateway; and for each auction one account that is
 * not a party must find nothing.
 */
export async function readAll(
  callers: readonly Insistent[],
  archive: OracleArchive,
  findings: Findings,
): Promise<void> {
  const readings = new Readings(archive, { floor: () => Infinity });
  const completed = [...archive.files.values()].filter(({ stage }) => stage === 'COMPLETED');
  const asked = [
    ...completed.flatMap((file, number) => ofAuction(file, number, callers)),
    ...callers.flatMap(ofEverything),
  ];
  let patience = PATIENCE;
  const worker = async (): Promise<void> => {
    for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
      const { caller, gateway, id, kind, route, path, status } = next;
      const tries = patience > 0 ? INSISTS.usually : INSISTS.withoutPatience;
      const last = await caller.insist(path, { tries, gateway, status });
      if (last === undefined || (last.status !== status && last.status !== FOUND)) {
        patience -= 1;
        const who = `gateway-${gateway}: ${caller.name} reads ${path}`;
        findings.add(`${READABLE}: GET ${route} is answered ${wordsOf(last)}: ${who}`);
        continue;
      }
      const what =
        status === FOUND ? `${WHAT[kind]} read at rest` : `${WHAT[kind]} asked for by strangers at rest`;
      const reading = { account: caller.account, auctionId: id, askedAt: undefined, limit: PAGE };
      findings.look(what, () => readings[kind]({ ...reading, status: last.status, body: last.text }));
    }
  };
  await Promise.all(Array.from({ length: READERS_AT_ONCE }, worker));
}

function ofAuction(
  { id, stories }: AuctionFile,
  number: number,
  callers: readonly Insistent[],
): readonly Wish[] {
  const parties = callers.filter(({ account }) => stories.has(account));
  const strangers = callers.filter(({ account }) => !stories.has(account));
  const stranger = strangers[number % Math.max(1, strangers.length)];
  return [
    ...parties.flatMap((caller) => wishes(id, caller, FOUND)),
    ...(stranger === undefined ? [] : wishes(id, stranger, NOT_FOUND)),
  ];
}

function wishes(id: string, caller: Insistent, status: Wish['status']): readonly Wish[] {
  return gatewaysOf(caller).flatMap((gateway) =>
    OF_AN_AUCTION.map(({ kind, tail, query }) => ({
      caller,
      gateway,
      id,
      kind,
      status,
      route: `/v1/auctions/{auctionID}${tail}`,
      path: `/v1/auctions/${id}${tail}${query}`,
    })),
  );
}

function ofEverything(caller: Insistent): readonly Wish[] {
  return gatewaysOf(caller).flatMap((gateway) =>
    OF_ALL.map(({ kind, route }) => ({
      caller,
      gateway,
      id: '',
      kind,
      status: FOUND,
      route,
      path: `${route}?limit=${PAGE}`,
    })),
  );
}

function gatewaysOf({ gateways }: Insistent): readonly number[] {
  return Array.from({ length: gateways }, (_, gateway) => gateway);
}

function wordsOf(answer: ApiAnswer | undefined): string {
  if (answer === undefined) return 'with nothing';
  return `${answer.status} ${/"error":"(\w+)"/.exec(answer.text)?.[1] ?? 'without a code'}`;
}
