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
  'not awarded:': ['NO_QUOTES', 'RESERVE_NOT_MET', 'MINIMUM_NOT_MET'],
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

/** Answers that depend on other users, time or repeats. Other reasons for a refusal are tested elsewhere. */
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

/** What a run of a thousand seeds must reach: a simulator that reaches nothing finds nothing. */
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

/**
 * Least counts for a hundred seeds, about half of the usual: the most important cases must not be reached by
 * chance alone.
 */
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

/** The goals that a run of this many seeds has missed, as text. */
export function missedGoals(coverage: ReadonlyMap<string, number>, seeds: number): string[] {
  const never = GOALS.filter((goal) => (coverage.get(goal) ?? 0) === 0);
  const seldom = Object.entries(COMMON).flatMap(([name, least]) => {
    const [count, wanted] = [coverage.get(name) ?? 0, Math.floor((least * seeds) / 100)];
    return count < wanted ? [`${name} (${count} of at least ${wanted})`] : [];
  });
  return [...never, ...seldom];
}

/** What no seed can reach. docs/understand/simulator.md lists the same with the reasons. */
export const OUT_OF_REACH: readonly string[] = [
  'more than 256 commands in one batch',
  'a batch of 2,000 records or 2,000,000 characters',
  'a withdraw-all of more than 500 quotes',
  'more than 500 notes of connections',
  'more than 512 auctions due at once',
  'an audience of more than 64',
  'leases that are recalled',
  '`NO` and named outcomes',
  'an award that its first route cannot settle',
  'the remaining capacity of an account with little',
  'halts',
  'evidence that is stale or contradicts itself',
  'orders of operators',
  'a process that is asked to stop',
  'records that are damaged or missing',
];
