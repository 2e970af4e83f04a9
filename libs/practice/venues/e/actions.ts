import { encode } from '@msgpack/msgpack';
import { z } from 'zod';
import {
  domainHash,
  hashOf,
  signerOf,
  typedDigest,
  type TypedValue,
} from '#libs/platform/ethereum/typed-data.js';

const ADDRESS = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/)
  .toLowerCase();
const WHOLE = z.number().int().nonnegative();
const DECIMAL = z.string().regex(/^\d{1,15}(?:\.\d{1,18})?$/);
const CLOID = z
  .string()
  .regex(/^0x[0-9a-fA-F]{32}$/)
  .toLowerCase();
const WORD = z.string().regex(/^0x[0-9a-fA-F]{1,64}$/);
const MOST = 100;

const ORDER = z.strictObject({
  a: WHOLE,
  b: z.boolean(),
  p: DECIMAL,
  s: DECIMAL,
  r: z.boolean(),
  t: z.strictObject({
    limit: z.strictObject({ tif: z.enum(['Gtc', 'Ioc', 'Alo', 'FrontendMarket']) }),
  }),
  c: CLOID.optional(),
});
const OF_ACCOUNT = {
  signatureChainId: z.string().regex(/^0x[0-9a-fA-F]{1,8}$/),
  hyperliquidChain: z.enum(['Mainnet', 'Testnet']),
};

/** The fields are in the order in which the venue hashes them, whatever order they were sent in. */
const ACTION = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('order'),
    orders: z.array(ORDER).min(1).max(MOST),
    grouping: z.literal('na'),
  }),
  z.strictObject({
    type: z.literal('cancel'),
    cancels: z
      .array(z.strictObject({ a: WHOLE, o: WHOLE }))
      .min(1)
      .max(MOST),
  }),
  z.strictObject({
    type: z.literal('cancelByCloid'),
    cancels: z
      .array(z.strictObject({ asset: WHOLE, cloid: CLOID }))
      .min(1)
      .max(MOST),
  }),
  z.strictObject({
    type: z.literal('approveAgent'),
    ...OF_ACCOUNT,
    agentAddress: ADDRESS,
    agentName: z.string().max(64).nullish(),
    nonce: WHOLE,
  }),
  z.strictObject({
    type: z.literal('usdSend'),
    ...OF_ACCOUNT,
    destination: ADDRESS,
    amount: DECIMAL,
    time: WHOLE,
  }),
  z.strictObject({
    type: z.literal('spotSend'),
    ...OF_ACCOUNT,
    destination: ADDRESS,
    token: z.string().min(1).max(80),
    amount: DECIMAL,
    time: WHOLE,
  }),
]);

const REQUEST = z.object({
  action: ACTION,
  nonce: WHOLE,
  signature: z.object({ r: WORD, s: WORD, v: z.union([z.literal(27), z.literal(28)]) }),
  vaultAddress: z.null().optional(),
  expiresAfter: WHOLE.nullish(),
});

export type VenueAction = z.infer<typeof ACTION>;
export type ReceivedAction = z.infer<typeof REQUEST>;
export type ReceivedOrder = z.infer<typeof ORDER>;
export type ActionOf<Type extends VenueAction['type']> = Extract<VenueAction, { readonly type: Type }>;

const ORDERS_DOMAIN = domainHash('Exchange', 1337n);

export function readAction(body: string): ReceivedAction | undefined {
  try {
    const read = REQUEST.safeParse(JSON.parse(body));
    return read.success ? read.data : undefined;
  } catch {
    return undefined;
  }
}

/** The address whose key signed exactly these bytes. If anything was changed, it is some other address. */
export function actionSigner({ action, nonce, signature, expiresAfter }: ReceivedAction): string | undefined {
  const { r, s, v } = signature;
  const padded = { r: `0x${r.slice(2).padStart(64, '0')}`, s: `0x${s.slice(2).padStart(64, '0')}`, v };
  return signerOf(digestOf(action, nonce, expiresAfter ?? undefined), padded);
}

function digestOf(action: VenueAction, nonce: number, expiresAfter: number | undefined): Uint8Array {
  switch (action.type) {
    case 'order':
    case 'cancel':
    case 'cancelByCloid': {
      const expiry = expiresAfter === undefined ? [] : [Buffer.from([0]), eightBytes(expiresAfter)];
      const bytes = [encode(action), eightBytes(nonce), Buffer.from([0]), ...expiry];
      return typedDigest(ORDERS_DOMAIN, 'Agent(string source,bytes32 connectionId)', [
        { text: 'a' },
        { word: hashOf(Buffer.concat(bytes)) },
      ]);
    }
    case 'approveAgent':
      return ofAccount(action, 'ApproveAgent', [
        ['address agentAddress', { address: action.agentAddress }],
        ['string agentName', { text: action.agentName ?? '' }],
        ['uint64 nonce', { uint: BigInt(action.nonce) }],
      ]);
    case 'usdSend':
      return ofAccount(action, 'UsdSend', [
        ['string destination', { text: action.destination }],
        ['string amount', { text: action.amount }],
        ['uint64 time', { uint: BigInt(action.time) }],
      ]);
    case 'spotSend':
      return ofAccount(action, 'SpotSend', [
        ['string destination', { text: action.destination }],
        ['string token', { text: action.token }],
        ['string amount', { text: action.amount }],
        ['uint64 time', { uint: BigInt(action.time) }],
      ]);
  }
}

function ofAccount(
  action: { readonly signatureChainId: string; readonly hyperliquidChain: string },
  name: string,
  members: readonly (readonly [type: string, value: TypedValue])[],
): Uint8Array {
  const types = ['string hyperliquidChain', ...members.map(([type]) => type)].join(',');
  return typedDigest(
    domainHash('HyperliquidSignTransaction', BigInt(action.signatureChainId)),
    `HyperliquidTransaction:${name}(${types})`,
    [{ text: action.hyperliquidChain }, ...members.map(([, value]) => value)],
  );
}

function eightBytes(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
}
