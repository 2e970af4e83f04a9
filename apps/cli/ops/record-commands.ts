import { idOf, integerOf, optionsOf, requiredText, textOf } from './arguments.js';
import type { OpsCommand } from './report.js';
import { nameOf, whomOf } from './halt-commands.js';
import { type Column, shortTime, table } from './table.js';
import type {
  AccountLimits,
  ActionEntry,
  ActionPage,
  Bucket,
  HaltTerms,
  ServiceLimits,
} from '#libs/client/operator-wire.js';

const USUAL_LIMIT = 20;
const MAX_LIMIT = 50;

export const auctionVoid: OpsCommand = {
  name: 'auction void',
  operands: [{ name: 'auction-id' }],
  options: optionsOf('reason'),
  summary: 'void an open auction',
  explanation: [
    'It ends as VOIDED for everyone, and every quote and reservation is released. This cannot be undone. Participants learn that an',
    'operator did it, but not who. A closed auction cannot be voided.',
  ],
  examples: ['auction void 0f0c4a5e-0000-8000-8000-000000000000 --reason "wrong contract"'],
  async run(call, { gateway, report }) {
    const id = idOf(call, 'an auction');
    const body = { reason: requiredText(call, 'reason') };
    const voided = await gateway.call<{ status: string }>('POST', `/v1/ops/auctions/${id}/void`, body);
    report.result(voided, () => [`auction ${id} is ${voided.status}`]);
    return 0;
  },
};

export const actions: OpsCommand = {
  name: 'actions',
  operands: [],
  options: optionsOf('limit', 'cursor'),
  summary: 'list what operators did',
  explanation: [
    'Newest first. A command to the owner of a shard has two entries: ASKED before it was sent, then DONE, REFUSED, or UNKNOWN',
    'if the owner did not answer. Entries are never changed.',
  ],
  examples: ['actions', 'actions --limit 50', 'actions --output json'],
  async run(call, { gateway, report }) {
    const query = new URLSearchParams({
      limit: String(integerOf(call, 'limit', 1, MAX_LIMIT) ?? USUAL_LIMIT),
    });
    const cursor = textOf(call, 'cursor');
    if (cursor !== undefined) query.set('cursor', cursor);
    const page = await gateway.get<ActionPage>(`/v1/ops/actions?${query.toString()}`);
    report.result(page, () => [
      ...(page.actions.length === 0 ? ['no actions yet'] : table(ACTION_COLUMNS, page.actions)),
      ...(page.next_cursor === undefined ? [] : [`more: --cursor ${page.next_cursor}`]),
    ]);
    return 0;
  },
};

export const limits: OpsCommand = {
  name: 'limits',
  operands: [{ name: 'account-id', optional: true }],
  options: optionsOf(),
  summary: 'show the limits of the service or of one account',
  explanation: [
    'Without an account: the configured token buckets, and bounds that are the same for everyone. With one: what its',
    'policy allows, and how many tokens its buckets have now.',
  ],
  examples: ['limits', 'limits 00000000-0000-8000-a000-000000000000'],
  async run(call, { gateway, report }) {
    if (call.operands.length === 0) {
      const found = await gateway.get<ServiceLimits>('/v1/ops/limits');
      report.result(found, () => serviceLines(found));
    } else {
      const account = idOf(call, 'an account');
      const found = await gateway.get<AccountLimits>(`/v1/ops/accounts/${account}/limits`);
      report.result(found, () => accountLines(found));
    }
    return 0;
  },
};

const ACTION_COLUMNS: readonly Column<ActionEntry>[] = [
  { head: 'AT', cell: ({ at }) => shortTime(at) },
  { head: 'WHO', cell: nameOf },
  { head: 'ACTION', cell: ({ action }) => action },
  { head: 'TARGET', cell: ({ target }) => target },
  { head: 'OUTCOME', cell: ({ outcome, error }) => (error === undefined ? outcome : `${outcome} ${error}`) },
  { head: 'WHAT AND WHY', cell: whatAndWhy },
];

function whatAndWhy({ halt, reason }: ActionEntry): string | undefined {
  const what = halt === undefined ? undefined : haltText(halt);
  return [what, reason].filter((part) => part !== undefined).join(': ') || undefined;
}

/** An entry may hold an invalid halt. The rest of the list must still be shown. */
function haltText(halt: unknown): string {
  return isHalt(halt) ? `${halt.what.join(',')} for ${whomOf(halt)}` : JSON.stringify(halt);
}

function isHalt(halt: unknown): halt is HaltTerms {
  if (typeof halt !== 'object' || halt === null || !('scope' in halt) || !('what' in halt)) return false;
  const target = 'target' in halt ? halt.target : undefined;
  return (
    typeof halt.scope === 'string' &&
    Array.isArray(halt.what) &&
    halt.what.every((word) => typeof word === 'string') &&
    (target === undefined || typeof target === 'string')
  );
}

function bucketTable(buckets: readonly Bucket[]): string[] {
  const columns: Column<Bucket>[] = [
    { head: 'BUCKET', cell: ({ bucket }) => bucket },
    { head: 'PER', cell: ({ scope }) => scope.toLowerCase().replaceAll('_', ' ') },
    { head: 'A SECOND', cell: ({ rate_per_second: rate }) => rate },
    { head: 'BURST', cell: ({ burst }) => burst },
  ];
  if (buckets.some(({ available }) => available !== undefined)) {
    columns.push({ head: 'AVAILABLE', cell: ({ available }) => available });
  }
  return table(columns, buckets);
}

function serviceLines({ buckets, bounds, limits_factor: factor }: ServiceLimits): string[] {
  const rows = Object.entries(bounds);
  return [
    ...bucketTable(buckets),
    '',
    ...table(
      [
        { head: 'BOUND', cell: ([name]) => name.replaceAll('_', ' ') },
        { head: 'AT MOST', cell: ([, most]) => most },
      ],
      rows,
    ),
    ...(factor === 1
      ? []
      : [
          '',
          `every bucket is multiplied by ${factor} (LIMITS_FACTOR): this service is set up for measuring`,
        ]),
  ];
}

function accountLines(found: AccountLimits): string[] {
  const facts: [string, string][] = [
    ['account', found.account_id],
    ['name', found.display_name],
    ['suspended', yesNo(found.suspended)],
    ['may create', yesNo(found.may_create)],
    ['may quote', yesNo(found.may_quote)],
    ['venues', found.entitled_venues.join(', ') || 'none'],
    ['largest size', `${found.max_quantity_atoms} quantity atoms`],
    ['control group', found.control_group ?? 'none'],
  ];
  const width = Math.max(...facts.map(([name]) => name.length));
  return [
    ...facts.map(([name, value]) => `${name.padEnd(width)}  ${value}`),
    '',
    ...bucketTable(found.buckets),
  ];
}

function yesNo(value: boolean): string {
  return value ? 'yes' : 'no';
}
