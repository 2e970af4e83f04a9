import type { PlantedBug } from './planted-bug.js';

type OrderBug = Omit<PlantedBug, 'foundBy'>;

/** Orders that are sent twice or lost, and doubtful results that are believed. */
const DOUBTS: readonly OrderBug[] = [
  {
    name: 'lost-lease-without-doubt',
    mistake: 'No process asks what became of an order whose sender is gone.',
    file: 'libs/execution/cell/executor-calls.ts',
    symbol: 'ExecutorCalls.lost',
    replace: [
      "else if (work.kind === 'submit') this.doubt(entry, work.order_id);",
      "else if (work.kind === 'submit') return;",
    ],
    promise: /begun and neither answered nor doubted|is still/,
    options: '--seed 5 --faults lost-on-the-way,lost-on-the-way',
  },
  {
    name: 'doubtful-cancel-believed',
    mistake: 'A cancel without an answer counts as done.',
    file: 'libs/execution/rules/decide/report.ts',
    symbol: 'answered',
    replace: [
      "case 'doubtful':",
      `case 'doubtful':
         if (kind === 'cancel' && draft.state.cancel !== undefined) {
           draft.add({ type: 'ORDER_ENDED', status: 'cancelled', terminal_reason: draft.state.cancel.cause });
           return true;
         }`,
    ],
    promise: /whether it rests is|too early/,
    options:
      '--seed 5 --faults drop_request:cancel,error:cancel,drop_request:cancel,error:cancel,drop_request:cancel',
  },
  {
    name: 'doubtful-amend-believed',
    mistake: 'An amend without an answer counts as done.',
    file: 'libs/execution/rules/decide/report.ts',
    symbol: 'answered',
    replace: [
      "case 'doubtful':",
      `case 'doubtful':
         if (kind === 'amend' && draft.state.amend !== undefined) {
           const { amend_id, price } = draft.state.amend;
           draft.add({ type: 'ORDER_AMENDED', amend_id, price });
           return true;
         }`,
    ],
    promise: /was said to be amended to/,
    options:
      '--seed 5 --faults drop_request:amend,error:amend,drop_request:amend,error:amend,drop_request:amend',
  },
  {
    name: 'no-answer-is-absence',
    mistake: 'A venue that does not answer counts as one that has no such order.',
    file: 'libs/execution/executor/absence.ts',
    symbol: 'findOrder',
    replace: [
      "if (error instanceof VenueUnavailable) return { what: 'unknown', reason: error.message };",
      "if (error instanceof VenueUnavailable) return { what: 'absent' } as never;",
    ],
    promise: /failed as not placed, and was placed|too early|no record names|at the venue/,
    options:
      '--seed 5 --faults drop_reply:submit+error:read,drop_reply:submit+error:read,kill-in-the-middle:practice,drop_reply:submit+error:read',
  },
  {
    name: 'sent-again-in-doubt',
    mistake: 'An order whose submission has no answer is sent again.',
    file: 'libs/execution/rules/decide/report.ts',
    symbol: 'answered',
    replace: [
      "draft.add({ type: 'SUBMISSION_DOUBTED', reason: outcome.reason });",
      "draft.add({ type: 'SUBMISSION_REPEATED', failure: { code: 'EXCHANGE_UNAVAILABLE' } });",
    ],
    promise: /orders at the venue|no record names/,
    options: '--seed 5 --faults drop_reply:submit,drop_reply:submit,drop_reply:submit',
  },
  {
    name: 'sent-before-it-is-durable',
    mistake: 'An order is sent before its cell has recorded this.',
    file: 'libs/execution/executor/order-tasks.ts',
    symbol: 'OrderTasks.submit',
    replace: ['const told = await account.submit(terms, venue_client_id);', ''],
    also: [
      {
        file: 'libs/execution/executor/order-tasks.ts',
        symbol: 'OrderTasks.submit',
        replace: [
          'const [mayBeSent, lacking] = await Promise.all([',
          'const told = await account.submit(terms, venue_client_id); const [mayBeSent, lacking] = await Promise.all([',
        ],
      },
    ],
    promise: /signed submissions|no record names|whether it rests|the venue does not know|at the venue/,
    options: '--seed 5 --faults kill-in-the-middle:executor,kill-in-the-middle:executor',
  },
];

/** Fills and their sums. */
const SUMS: readonly OrderBug[] = [
  {
    name: 'fill-counts-as-often-as-it-is-told',
    mistake: 'A fill that is reported again is booked again.',
    file: 'libs/execution/rules/decide/settle.ts',
    symbol: 'bookFills',
    replace: ['if (draft.state.fill_ids.includes(fill.fill_id)) continue;', ''],
    promise: /^(reconciler: unexplained|ledger of|exposure of|venue_. \S+ \(\w+\): )/,
    options: '--seed 5 --faults duplicate_fill',
  },
  {
    name: 'trade-names-one-fill',
    mistake: 'A fill is named by its trade alone, though a trade fills two orders.',
    file: 'libs/execution/venues/fill-id.ts',
    symbol: 'fillId',
    replace: ['${fill.exchange_order_id}/', ''],
    promise: /^(two orders show one fill|fill \S+ is booked|the ledger books fill)/,
  },
  {
    name: 'fees-not-booked',
    mistake: 'The fee of a fill is not booked.',
    file: 'libs/execution/projections/booking/postings.ts',
    symbol: 'fillBookings',
    replace: ["'available', 'fee', fee)", "'available', 'fee', fee - fee)"],
    promise: /^ledger of .*: (fees|money) /,
  },
  {
    name: 'hold-outlives-its-order',
    mistake: 'The hold of an order stays after the order has ended.',
    file: 'libs/execution/projections/booking/postings.ts',
    symbol: 'reservedBy',
    replace: ["isTerminal(order) || order.terms.side === 'buy'", "order.terms.side === 'buy'"],
    promise: /^ledger of .*: held /,
  },
];

/** Found by the campaign of orders: cells, executor, signer and practice venues as processes. */
export const ORDER_BUGS: readonly OrderBug[] = [...DOUBTS, ...SUMS];
