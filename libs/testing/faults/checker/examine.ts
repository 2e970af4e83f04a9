import type { Archive } from '../../simulator/oracle/archive.js';
import { Acknowledged } from '../../simulator/oracle/acknowledged.js';
import { LAST_PROOF_MILLIS } from '../../simulator/oracle/freshness.js';
import type { Policies } from '../../simulator/oracle/policy-book.js';
import { Promises } from '../../simulator/oracle/promises.js';
import type { RefusalGrounds } from '../../simulator/oracle/refusals.js';
import { Readings } from '../../simulator/oracle/readings.js';
import type { Cast } from '../cast.js';
import type { ApiAnswer } from '../../cluster/api-client.js';
import type { Caller } from '../load/caller.js';
import { checkAnswers } from './answers.js';
import type { Findings } from './findings.js';
import { checkLeaks } from './leaks.js';
import { checkStream } from './streams.js';

const MULTIPLE_CHOICES = 300;
const REQUEST_TIMEOUT = 408;
const READERS_AT_ONCE = 8;
/** Nobody knows here what anybody's clock said when it refused something, nor what somebody had then. */
const NO_GROUNDS: RefusalGrounds = {
  now: () => '',
  aheadMillis: 0,
  mayBeMisled: true,
  isRich: () => false,
};
const FOR_EVER = '9999-01-01T00:00:00.000Z';
const READABLE = 'at rest everything is read';
/** So often a read that is not answered with 200 is tried, and so many of them that often: a fault that is everywhere is not waited for everywhere. */
const INSISTS = { usually: 60, withoutPatience: 2 };
const PATIENCE = 16;

type Insistent = Pick<Caller, 'account' | 'name' | 'gateways' | 'insist'>;

/** What people were told meanwhile, held against what the journals say in the end. */
export function examine(
  { transcript, listeners, makers }: Pick<Cast, 'transcript' | 'listeners' | 'makers'>,
  archive: Archive,
  findings: Findings,
): void {
  const acknowledged = new Acknowledged();
  const answered = [...transcript.answered].sort((one, other) => one.endedAt - other.endedAt);
  checkAnswers(answered, transcript.document, findings);
  let now = 0;
  const promises = new Promises(archive, openPolicy(makers, archive), NO_GROUNDS, (placed) =>
    acknowledged.note(placed, now),
  );
  for (const { command } of answered) promises.said(command);
  for (const { command, status, body, endedAt } of answered) {
    now = endedAt;
    // A command of which a gateway has heard only a part: it was never begun.
    if (status === REQUEST_TIMEOUT) continue;
    const what = command.operation === 'WITHDRAW_ALL' ? 'answers to withdraw-alls' : 'answers to commands';
    findings.look(what, () => promises.answered(command, status, body));
    if (status < MULTIPLE_CHOICES) findings.count(`acknowledged ${command.operation}`);
  }
  findings.look('all promises at once', () => promises.checkAll());
  // Nobody knows here when which owner was replaced: what was known for that long is known to all.
  const floor = (shard: number, askedAt: number): number =>
    acknowledged.upTo(shard, askedAt - LAST_PROOF_MILLIS);
  const readings = new Readings(archive, { floor });
  for (const { kind, reading } of transcript.readings) findings.look('reads', () => readings[kind](reading));
  for (const { told, memory, caller } of listeners) {
    for (const fault of memory.faults) findings.add(`streams are dense: ${caller.name} ${fault}`);
    checkStream(told, archive, caller.account, findings);
  }
  checkLeaks(
    transcript,
    archive,
    makers.map(({ account }) => account),
    findings,
  );
  findings.takeSorts(transcript.faults);
}

/** Here nobody is kept out of an audience, nobody keeps groups, every market trades, and any maker may be frozen at any time. */
function openPolicy(makers: Cast['makers'], archive: Archive): Policies {
  const routes = [...archive.files.values()].flatMap(({ terms }) => terms.routes);
  const venues = [...new Set(routes.map(({ venue }) => venue))];
  const guest = { is_maker: true, suspended: false, venues, control_group: null };
  const guests = new Map(makers.map(({ account }) => [account, guest]));
  const markets = new Map(
    routes.map(({ venue, contract_id: contract, outcome }) => [
      [venue, contract, outcome].join('/'),
      'TRADING',
    ]),
  );
  const frozen = new Map(makers.map(({ account }) => [account, FOR_EVER]));
  const page = { guests, markets, frozen, groups: new Map(), everIn: new Map() };
  return { said: () => undefined, saidAt: () => 0, pagesFor: () => [page] };
}

/** Everybody reads everything once more, at rest and at each gateway. */
export async function readAll(
  callers: readonly Insistent[],
  archive: Archive,
  findings: Findings,
): Promise<void> {
  const readings = new Readings(archive, { floor: () => Infinity });
  const asked = [...archive.files.values()].flatMap(({ id, stage, stories }) =>
    stage === 'COMPLETED' ? [...stories.keys()].flatMap((account) => wishes(id, account, callers)) : [],
  );
  let patience = PATIENCE;
  const worker = async (): Promise<void> => {
    for (let next = asked.pop(); next !== undefined; next = asked.pop()) {
      const { caller, gateway, id, kind, route, path } = next;
      const tries = patience > 0 ? INSISTS.usually : INSISTS.withoutPatience;
      const last = await caller.insist(path, tries, gateway);
      if (last?.status !== 200) {
        patience -= 1;
        const who = `gateway-${gateway}: ${caller.name} reads ${path}`;
        findings.add(`${READABLE}: GET ${route} is answered ${wordsOf(last)}: ${who}`);
        continue;
      }
      const reading = { account: caller.account, auctionId: id, status: 200, askedAt: undefined };
      findings.look(`${WHAT[kind]} read at rest`, () => readings[kind]({ ...reading, body: last.text }));
    }
  };
  await Promise.all(Array.from({ length: READERS_AT_ONCE }, worker));
}

const WHAT = { view: 'auctions', timeline: 'timelines', ownQuotes: 'quotes of auctions' } as const;
const ROUTES = [
  { kind: 'view', tail: '' },
  { kind: 'timeline', tail: '/events', query: '?limit=1000' },
  { kind: 'ownQuotes', tail: '/quotes' },
] as const satisfies readonly { kind: keyof typeof WHAT; tail: string; query?: string }[];

interface Wish {
  readonly caller: Insistent;
  readonly gateway: number;
  readonly id: string;
  readonly kind: keyof typeof WHAT;
  readonly route: string;
  readonly path: string;
}

/** What somebody may read of an auction, everywhere. */
function wishes(id: string, account: string, callers: readonly Insistent[]): readonly Wish[] {
  const caller = callers.find((each) => each.account === account);
  if (caller === undefined) return [];
  return Array.from({ length: caller.gateways }, (_, gateway) => gateway).flatMap((gateway) =>
    ROUTES.map(({ kind, tail, ...rest }) => ({
      caller,
      gateway,
      id,
      kind,
      route: `/v1/auctions/{auctionID}${tail}`,
      path: `/v1/auctions/${id}${tail}${'query' in rest ? rest.query : ''}`,
    })),
  );
}

function wordsOf(answer: ApiAnswer | undefined): string {
  if (answer === undefined) return 'with nothing';
  return `${answer.status} ${/"error":"(\w+)"/.exec(answer.text)?.[1] ?? 'without a code'}`;
}
