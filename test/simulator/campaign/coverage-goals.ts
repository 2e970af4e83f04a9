const REACHED: Readonly<Record<string, readonly string[]>> = {
  fault: [
    'CRASH',
    'PAUSE',
    'LONG_PAUSE',
    'PROJECTORS_PAUSE',
    'CRASH_UNPROJECTED',
    'DEPOSE',
    'RIVAL',
    'CUT',
    'PARTITION',
    'CLOCK_JUMP',
    'DATABASE_RESTART',
    'DATABASE_OUTAGE',
    'LEDGER_HELD',
    'BROKER_OUTAGE',
    'GATEWAY_BEHIND',
    'OWNER_BEHIND',
    'STREAM_CUT',
    'STREAM_AWAY',
    'READER_STOPS',
    'MARKET_CLOSES',
  ],
  wire: ['LATE', 'DROPPED', 'REPEATED', 'REORDERED'],
  topic: ['lostBehind', 'lostBefore', 'late', 'twice', 'refused', 'staleEnd'],
  ignored: ['late take-over', 'event of a deposed writer', 'repeated event'],
  database: ['STALLED', 'SERIALIZATION', 'BROKEN_BEFORE', 'BROKEN_BEHIND'],
  event: [
    'AUCTION_OPENED',
    'AUCTION_CANCELLED',
    'AUCTION_VOIDED',
    'AUCTION_CLOSED',
    'AUCTION_AWARDED',
    'AUCTION_NOT_AWARDED',
    'AUCTION_COMPLETED',
    'QUOTE_SUBMITTED',
    'QUOTE_REVISED',
    'QUOTE_WITHDRAWN',
    'QUOTE_EXPIRED',
    'QUOTE_REJECTED',
    'CANCEL_REJECTED',
    'CREATE_REJECTED',
    'ALL_WITHDRAWN',
    'CONNECTION_NOTED',
    'EXECUTION_SUBMITTED',
    'EXECUTION_RETRYING',
    'EXECUTION_CONFIRMED',
    'EXECUTION_FAILED',
  ],
  withdrawn: ['by DISCONNECT', 'by PROTECTION', 'by MARKET_MAKER'],
  allocation: ['SINGLE_WINNER', 'SPLIT'],
  side: ['BUY', 'SELL'],
  revisions: ['FREE', 'IMPROVE_ONLY', 'FINAL'],
  tokens: ['issued for all', 'issued for some', 'issued for none'],
  nobody: ['won NO_QUOTES', 'won RESERVE_NOT_MET', 'won MINIMUM_NOT_MET'],
  priority: ['kept', 'lost'],
  stream: [
    'resumed',
    'recalled',
    'told by owners',
    'events',
    'single',
    'waited for its gateway',
    'believed',
    'slow reader shown the present',
    'slow reader closed',
    'has done quote.submit',
    'has done quote.withdraw_all',
  ],
};

/** Of refusals those that come of what others do, of time, or of repeats; why else something is refused is for other tests. */
const ANSWERS = [
  '200 CANCEL',
  '200 CREATE',
  '200 REVISE',
  '200 SUBMIT',
  '200 WITHDRAW',
  '200 WITHDRAW_ALL',
  '201 CREATE',
  '201 SUBMIT',
  '404 auction_not_found',
  '404 quote_not_found',
  '409 idempotency_key_conflict',
  '409 quote_already_active',
  '409 quote_revision_conflict',
  '422 AUCTION_NOT_OPEN',
  '422 COMMAND_EXPIRED',
  '422 INSUFFICIENT_COLLATERAL',
  '422 MMP_FROZEN',
  '503 auction_owner_unavailable',
  '503 clock_unhealthy',
];

/** What a run of a thousand seeds must have reached: a simulator that reaches nothing finds nothing. */
export const GOALS: readonly string[] = [
  ...Object.entries(REACHED).flatMap(([kind, names]) => names.map((name) => `${kind} ${name}`)),
  ...ANSWERS.map((answer) => `answer ${answer}`),
  'calm worlds',
  'reads',
  'protection tripped',
  'several winners',
  'several routes',
  'clocks that drift',
  'snapshots read',
  'twins compared',
];

/** Of a hundred seeds so much at least, which is half of what is usual: what most of all rests on must not come about by chance alone. */
const COMMON: Readonly<Record<string, number>> = {
  'answer 201 CREATE': 380,
  'answer 201 SUBMIT': 270,
  'answer 200 REVISE': 45,
  'event AUCTION_AWARDED': 65,
  'event EXECUTION_CONFIRMED': 65,
  'calm worlds': 4,
  reads: 2_300,
  'stream events': 6_900,
  'twins compared': 20,
};

/** Which goals a run of so many seeds has missed, in words. */
export function missedGoals(coverage: ReadonlyMap<string, number>, seeds: number): string[] {
  const never = GOALS.filter((goal) => (coverage.get(goal) ?? 0) === 0);
  const seldom = Object.entries(COMMON).flatMap(([name, least]) => {
    const [count, wanted] = [coverage.get(name) ?? 0, Math.floor((least * seeds) / 100)];
    return count < wanted ? [`${name} (${count} of at least ${wanted})`] : [];
  });
  return [...never, ...seldom];
}

/** What no seed can reach, as docs/understand/simulator.md says and why: whoever reads that everything was reached is to know of what. */
export const OUT_OF_REACH: readonly string[] = [
  'more than 256 commands in one batch',
  'a batch of 2,000 records or 2,000,000 characters',
  'a withdraw-all of more than 500 quotes',
  'more than 500 notes of connections',
  'more than 512 auctions due at once',
  'an audience of more than 64',
  'leases that are called in',
  '`NO` and named outcomes',
  'an award that its first route cannot settle',
  'how much is left to one who has little',
  'halts',
  'evidence that is stale or contradicts itself',
  'orders of operators',
  'a process that is told to stop',
  'records that are damaged or missing',
];
