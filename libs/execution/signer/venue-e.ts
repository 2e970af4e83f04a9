import { encode } from '@msgpack/msgpack';
import { z } from 'zod';
import { SignerFailure, type ActionSigning } from '../protocol/signer-protocol.js';
import { domainHash, hashOf, typedDigest, type TypedValue } from '#libs/platform/ethereum/typed-data.js';

const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const DECIMAL = z.string().regex(/^\d{1,15}(\.\d{1,8})?$/);
const WHOLE = z.number().int().nonnegative();
const CLOID = z.string().regex(/^0x[0-9a-f]{32}$/);
const MOST_AT_ONCE = 100;

const ORDER = z.strictObject({
  type: z.literal('order'),
  orders: z
    .array(
      z.strictObject({
        a: WHOLE,
        b: z.boolean(),
        p: DECIMAL,
        s: DECIMAL,
        r: z.literal(false),
        t: z.strictObject({ limit: z.strictObject({ tif: z.enum(['Gtc', 'Ioc', 'Alo']) }) }),
        c: CLOID,
      }),
    )
    .min(1)
    .max(MOST_AT_ONCE),
  grouping: z.literal('na'),
});
const CANCEL = z.strictObject({
  type: z.literal('cancel'),
  cancels: z
    .array(z.strictObject({ a: WHOLE, o: WHOLE }))
    .min(1)
    .max(MOST_AT_ONCE),
});
const CANCEL_BY_CLOID = z.strictObject({
  type: z.literal('cancelByCloid'),
  cancels: z
    .array(z.strictObject({ asset: WHOLE, cloid: CLOID }))
    .min(1)
    .max(MOST_AT_ONCE),
});
const OF_ACCOUNT = {
  signatureChainId: z.string().regex(/^0x[0-9a-f]{1,8}$/),
  hyperliquidChain: z.enum(['Mainnet', 'Testnet']),
};
const APPROVE_AGENT = z.strictObject({
  type: z.literal('approveAgent'),
  ...OF_ACCOUNT,
  agentAddress: ADDRESS,
  agentName: z.string().max(16),
  nonce: WHOLE,
});
const USD_SEND = z.strictObject({
  type: z.literal('usdSend'),
  ...OF_ACCOUNT,
  destination: ADDRESS,
  amount: DECIMAL,
  time: WHOLE,
});
const SPOT_SEND = z.strictObject({
  type: z.literal('spotSend'),
  ...OF_ACCOUNT,
  destination: ADDRESS,
  token: z.string().min(1).max(80),
  amount: DECIMAL,
  time: WHOLE,
});

const AGENT_ACTION = z.discriminatedUnion('type', [ORDER, CANCEL, CANCEL_BY_CLOID]);
const ACCOUNT_ACTION = z.discriminatedUnion('type', [APPROVE_AGENT, USD_SEND, SPOT_SEND]);

type AgentAction = z.infer<typeof AGENT_ACTION>;
type AccountAction = z.infer<typeof ACCOUNT_ACTION>;

/** What an action does beyond trading. The signer's policy decides on it. */
export type ActionEffect = { readonly agent: string } | { readonly destination: string } | undefined;

export interface PreparedAction {
  readonly digest: Uint8Array;
  readonly effect: ActionEffect;
  /** What the record of signatures keeps: enough to compute the digest again. */
  readonly content: string;
}

/** Source letters of the venue's main and test networks. */
const SOURCES = { main: 'a', test: 'b' } as const;
export type VenueNetwork = keyof typeof SOURCES;
const ORDERS_DOMAIN = domainHash('Exchange', 1337n);
const AGENT_TYPE = 'Agent(string source,bytes32 connectionId)';

/** The digest of a known action. Any other action is refused. */
export function preparedAction(request: Omit<ActionSigning, 'op'>, network: VenueNetwork): PreparedAction {
  const nonce = uint64(request.nonce);
  if (request.by === 'agent') {
    const action = known(AGENT_ACTION, request.action);
    const expiresAfter = request.expires_after === undefined ? undefined : uint64(request.expires_after);
    const connection = actionHash(action, nonce, expiresAfter);
    const digest = typedDigest(ORDERS_DOMAIN, AGENT_TYPE, [{ text: SOURCES[network] }, { word: connection }]);
    return { digest, effect: undefined, content: contentOf(request, action) };
  }
  if (request.expires_after !== undefined) throw refused('such an action does not expire');
  const action = known(ACCOUNT_ACTION, request.action);
  const { type, values } = typedAction(action);
  const at = action.type === 'approveAgent' ? action.nonce : action.time;
  if (BigInt(at) !== nonce) throw refused('the action has another nonce than the request');
  const domain = domainHash('HyperliquidSignTransaction', BigInt(action.signatureChainId));
  const digest = typedDigest(domain, type, values);
  return { digest, effect: effectOf(action), content: contentOf(request, action) };
}

/** The venue rebuilds these bytes from the action it receives. Fields keep this order, and absent ones are left out. */
function actionHash(action: AgentAction, nonce: bigint, expiresAfter: bigint | undefined): Uint8Array {
  const noVault = Buffer.from([0]);
  const expiry = expiresAfter === undefined ? [] : [Buffer.from([0]), bigEndian(expiresAfter)];
  return hashOf(Buffer.concat([encode(action), bigEndian(nonce), noVault, ...expiry]));
}

function typedAction(action: AccountAction): { readonly type: string; readonly values: TypedValue[] } {
  const chain = { text: action.hyperliquidChain };
  switch (action.type) {
    case 'approveAgent':
      return {
        type: 'HyperliquidTransaction:ApproveAgent(string hyperliquidChain,address agentAddress,string agentName,uint64 nonce)',
        values: [
          chain,
          { address: action.agentAddress },
          { text: action.agentName },
          { uint: BigInt(action.nonce) },
        ],
      };
    case 'usdSend':
      return {
        type: 'HyperliquidTransaction:UsdSend(string hyperliquidChain,string destination,string amount,uint64 time)',
        values: [chain, { text: action.destination }, { text: action.amount }, { uint: BigInt(action.time) }],
      };
    case 'spotSend':
      return {
        type: 'HyperliquidTransaction:SpotSend(string hyperliquidChain,string destination,string token,string amount,uint64 time)',
        values: [
          chain,
          { text: action.destination },
          { text: action.token },
          { text: action.amount },
          { uint: BigInt(action.time) },
        ],
      };
  }
}

function effectOf(action: AccountAction): ActionEffect {
  return action.type === 'approveAgent'
    ? { agent: action.agentAddress }
    : { destination: action.destination };
}

function contentOf(request: Omit<ActionSigning, 'op'>, action: AgentAction | AccountAction): string {
  const { by, nonce, expires_after } = request;
  return JSON.stringify({ by, nonce, expires_after, action });
}

function known<T>(schema: z.ZodType<T>, action: unknown): T {
  const read = schema.safeParse(action);
  if (read.success) return read.data;
  const issue = read.error.issues[0];
  throw refused(`not an action that is signed: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`);
}

function uint64(digits: string): bigint {
  const value = BigInt(digits);
  if (value >= 1n << 63n) throw refused('a nonce or time is too large');
  return value;
}

function bigEndian(value: bigint): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(value);
  return bytes;
}

function refused(message: string): SignerFailure {
  return new SignerFailure('SIGNER_REFUSED', message);
}
