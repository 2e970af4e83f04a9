import {
  OUTPUT_OPTION,
  UsageFault,
  type CommandArea,
  type CommandDeclaration,
  type OptionDeclaration,
  type OptionTable,
  type ParsedCall,
} from '#libs/platform/terminal/commands.js';
import type { GatewayClient } from '../ops/gateway-client.js';
import type { OpsReport } from '../ops/report.js';
import { table } from '../ops/table.js';

interface ExecutionPorts {
  readonly orders: GatewayClient;
  readonly report: OpsReport;
}

interface ExecutionCommand extends CommandDeclaration {
  run(call: ParsedCall, ports: ExecutionPorts): Promise<number>;
}

type Row = Readonly<Record<string, unknown>>;

/** By option: the field of the procedure's input, and its help text. */
const OPTIONS = {
  venue: { input: 'exchangeId', value: 'venue', text: 'the venue, such as venue_b' },
  side: { input: 'side', value: 'side', text: 'buy or sell' },
  kind: { input: 'kind', value: 'kind', text: 'market or limit' },
  tif: { input: 'timeInForce', value: 'tif', text: 'GTC, GTD, FOK, FAK or IOC' },
  user: { input: 'userId', value: 'id', text: 'the user' },
  mode: { input: 'mode', value: 'mode', text: 'on, reduce_only, cancel_only or halted' },
  resumes: {
    input: 'resumesAt',
    value: 'time',
    text: 'when trading is expected to resume; for information only',
  },
  enabled: { input: 'enabled', value: 'word', text: 'true, false, or unknown' },
  name: { input: 'name', value: 'text', text: 'the name of the key' },
  scopes: { input: 'scopes', value: 'list', text: 'scopes, separated by commas' },
  addresses: {
    input: 'ipAllowList',
    value: 'list',
    text: 'the only addresses that may use it, separated by commas',
  },
  'per-minute': { input: 'ordersPerMinute', value: 'n', text: 'orders that it may submit in a minute' },
  expires: { input: 'expiresAt', value: 'time', text: 'when the key expires' },
  key: { input: 'clientId', value: 'id', text: 'the client id of the key' },
  order: { input: 'orderId', value: 'id', text: 'the order' },
  reason: { input: 'reason', value: 'text', text: 'why; it is kept with your name' },
} as const satisfies Readonly<Record<string, { input: string; value: string; text: string }>>;
type OptionName = keyof typeof OPTIONS;

const COMMON: OptionTable = {
  ...OUTPUT_OPTION,
  url: { type: 'string', value: 'url', text: 'the gateway, instead of OPS_URL or the cluster in DATA_DIR' },
  'execution-url': { type: 'string', value: 'url', text: 'order execution, instead of EXECUTION_URL' },
};

interface Procedure {
  readonly name: string;
  readonly procedure: string;
  readonly summary: string;
  readonly needs?: readonly OptionName[];
  readonly takes?: readonly OptionName[];
  /** The field of the result that is a list. Absent where the result is a single object. */
  readonly list?: string;
}

const PROCEDURES: readonly Procedure[] = [
  {
    name: 'switches',
    procedure: 'admin.switches.list',
    summary: 'list switches that are not on',
    list: 'switches',
  },
  {
    name: 'switch set',
    procedure: 'admin.switches.set',
    summary: 'halt or restrict trading everywhere, at a venue, of a kind of order, or of a user',
    needs: ['mode', 'reason'],
    takes: ['venue', 'side', 'kind', 'tif', 'user', 'resumes'],
  },
  {
    name: 'breaker reset',
    procedure: 'admin.breakers.reset',
    summary: 'close breakers of a venue at once',
    needs: ['venue', 'reason'],
    takes: ['side', 'kind', 'tif'],
  },
  {
    name: 'access set',
    procedure: 'admin.apiAccess.set',
    summary: 'allow or forbid trading with API keys at a venue',
    needs: ['venue', 'enabled', 'reason'],
  },
  {
    name: 'key grant',
    procedure: 'admin.keys.grant',
    summary: 'make an API key with any scopes; its secrets are shown once',
    needs: ['user', 'name', 'scopes'],
    takes: ['addresses', 'per-minute', 'expires', 'reason'],
  },
  {
    name: 'key revoke',
    procedure: 'admin.keys.revoke',
    summary: 'end an API key',
    needs: ['key', 'reason'],
  },
  {
    name: 'order reconcile',
    procedure: 'admin.orders.reconcile',
    summary: 'ask the venue now about the state of an order',
    needs: ['order', 'reason'],
  },
  {
    name: 'differences',
    procedure: 'admin.reconciliation.report',
    summary: 'show where records and venues differ, and orders in doubt',
    takes: ['user', 'venue'],
  },
  {
    name: 'reserves',
    procedure: 'admin.reserves.report',
    summary: 'compare what the vault owes with what it has at the venues',
    list: 'rows',
  },
  { name: 'signer', procedure: 'admin.signer.status', summary: 'show keys and signatures of the signer' },
];

/** The commands of operators for order execution. */
export const EXECUTION: CommandArea<ExecutionCommand> = {
  name: 'execution',
  commands: PROCEDURES.map(commandOf),
  notes: [
    'Logs in with OPS_TOKEN, or OPS_EMAIL and OPS_PASSWORD, or asks on the terminal. The account needs the role OPERATOR.',
    'Uses the gateway and order execution of --url and --execution-url, else of OPS_URL and EXECUTION_URL, else of the cluster in DATA_DIR.',
  ],
};

function commandOf({ name, procedure, summary, needs = [], takes = [], list }: Procedure): ExecutionCommand {
  const own = [...needs, ...takes].map((option): [string, OptionDeclaration] => {
    const { value, text } = OPTIONS[option];
    return [option, { type: 'string', value, text }];
  });
  return {
    name,
    operands: [],
    options: { ...Object.fromEntries(own), ...COMMON },
    summary,
    async run(call, { orders, report }) {
      for (const option of needs) {
        if (call.options.text(option) === undefined) throw new UsageFault(`--${option} is missing`, name);
      }
      const input = inputOf(call, [...needs, ...takes]);
      const { result } = await orders.call<{ result: Row }>('POST', `/rpc/${procedure}`, { input });
      report.result(result, () => shown(list === undefined ? result : result[list]));
      return 0;
    },
  };
}

function inputOf(call: ParsedCall, names: readonly OptionName[]): Row {
  const given = names.flatMap((name): [string, unknown][] => {
    const text = call.options.text(name);
    return text === undefined ? [] : [[OPTIONS[name].input, valueOf(name, text)]];
  });
  return Object.fromEntries(given);
}

const ENABLED: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['unknown', null],
]);

function valueOf(name: OptionName, text: string): unknown {
  if (name === 'scopes' || name === 'addresses') return text.split(',').map((each) => each.trim());
  if (name === 'per-minute') return wholeNumber(text);
  if (name !== 'enabled') return text;
  const word = ENABLED.get(text);
  if (word === undefined) throw new UsageFault('--enabled must be one of true, false and unknown');
  return word;
}

function wholeNumber(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new UsageFault('--per-minute must be a whole number');
  return Number(text);
}

function shown(found: unknown): string[] {
  const rows = Array.isArray(found) ? found.filter(isRow) : [];
  if (Array.isArray(found) && rows.length === 0) return ['none'];
  if (rows.length > 0) return tableOf(rows);
  if (!isRow(found)) return [String(found)];
  return Object.entries(found).flatMap(([name, value]) => {
    if (!Array.isArray(value)) return [`${name}  ${textOf(value) ?? '-'}`];
    if (value.some((each) => typeof each === 'string')) return [`${name}  ${value.join(', ')}`];
    return [`${name}:`, ...shown(value).map((line) => `  ${line}`)];
  });
}

function tableOf(rows: readonly Row[]): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return table(
    names.map((name) => ({ head: name.toUpperCase(), cell: (row: Row) => textOf(row[name]) })),
    rows,
  );
}

function textOf(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
