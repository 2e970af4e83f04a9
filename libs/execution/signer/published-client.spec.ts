import { createPublicKey, createVerify, constants, generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ApproveAgentTypes, SpotSendTypes, UsdSendTypes } from '@nktkas/hyperliquid/api/exchange';
import { signL1Action, signUserSignedAction } from '@nktkas/hyperliquid/signing';
import fc from 'fast-check';
import { privateKeyToAccount } from 'viem/accounts';
import { addressOf, signDigest } from '#libs/platform/ethereum/typed-data.js';
import { headerText, signText } from './venue-b.js';
import { preparedAction } from './venue-e.js';

const KEY = Buffer.from('5c1f7e0d8a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e2f1a0b9c8d', 'hex');
const wallet = privateKeyToAccount(`0x${KEY.toString('hex')}`);
const CLOID = `0x${'1b'.repeat(16)}`;
const USER = { user_id: 'trader-1', venue: 'venue_e' } as const;

const orders = fc.record({
  type: fc.constant('order'),
  orders: fc.array(
    fc.record({
      a: fc.integer({ min: 100_000_000, max: 4_294_967_296 }),
      b: fc.boolean(),
      p: fc.integer({ min: 1, max: 9_999 }).map((tick) => (tick / 10_000).toString()),
      s: fc.integer({ min: 1, max: 1_000_000 }).map(String),
      r: fc.constant(false as const),
      t: fc.constantFrom('Gtc', 'Ioc', 'Alo').map((tif) => ({ limit: { tif } })),
      c: fc.constant(CLOID),
    }),
    { minLength: 1, maxLength: 20 },
  ),
  grouping: fc.constant('na'),
});
const cancels = fc.record({
  type: fc.constant('cancel'),
  cancels: fc.array(fc.record({ a: fc.nat(), o: fc.maxSafeNat() }), { minLength: 1, maxLength: 20 }),
});

describe('the signer makes the same signatures as the published client of venue e', () => {
  it('for orders and cancels by the agent', async () => {
    const nonces = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
    const actions = fc.oneof(orders, cancels);
    await fc.assert(
      fc.asyncProperty(actions, nonces, fc.option(nonces), async (action, nonce, expiry) => {
        const expiresAfter = expiry ?? undefined;
        const theirs = await signL1Action({
          ...{ wallet, action, nonce },
          ...(expiresAfter === undefined ? {} : { expiresAfter }),
        });
        const { digest } = preparedAction(
          {
            ...{ ...USER, by: 'agent', action, nonce: String(nonce) },
            ...(expiresAfter === undefined ? {} : { expires_after: String(expiresAfter) }),
          },
          'main',
        );
        expect(signDigest(digest, KEY)).toEqual(theirs);
      }),
      { numRuns: 60 },
    );
  });

  it('for cancels by client id on the test network', async () => {
    const action = { type: 'cancelByCloid', cancels: [{ asset: 100_000_051, cloid: CLOID }] };
    const theirs = await signL1Action({ wallet, action, nonce: 7, isTestnet: true });
    const { digest } = preparedAction({ ...USER, by: 'agent', action, nonce: '7' }, 'test');
    expect(signDigest(digest, KEY)).toEqual(theirs);
  });

  it.each([
    {
      types: ApproveAgentTypes,
      action: { type: 'approveAgent', agentAddress: wallet.address.toLowerCase(), agentName: '', nonce: 9 },
    },
    {
      types: UsdSendTypes,
      action: {
        ...{ type: 'usdSend', destination: wallet.address.toLowerCase() },
        ...{ amount: '12.5', time: 9 },
      },
    },
    {
      types: SpotSendTypes,
      action: {
        ...{ type: 'spotSend', destination: wallet.address.toLowerCase(), token: 'USDC:0x0' },
        ...{ amount: '3', time: 9 },
      },
    },
  ])('for $action.type by the account', async ({ types, action }) => {
    const { type, ...rest } = action;
    const full = { type, signatureChainId: '0x66eee', hyperliquidChain: 'Mainnet', ...rest } as const;
    const theirs = await signUserSignedAction({ wallet, action: full, types });
    const { digest } = preparedAction({ ...USER, by: 'account', action: full, nonce: '9' }, 'main');
    expect(signDigest(digest, KEY)).toEqual(theirs);
  });

  it('the address follows from the key', () => {
    expect(addressOf(KEY)).toBe(wallet.address.toLowerCase());
  });
});

describe('the signer refuses to sign', () => {
  it.each([
    { type: 'withdraw3', amount: '1' },
    { type: 'order', orders: [], grouping: 'na' },
    { type: 'order', orders: [{ a: 1 }], grouping: 'na', builder: {} },
    { type: 'approveAgent' },
  ])('this action of the agent: %j', (action) => {
    expect(() => preparedAction({ ...USER, by: 'agent', action, nonce: '1' }, 'main')).toThrow(
      expect.objectContaining({ code: 'SIGNER_REFUSED' }),
    );
  });

  const call = {
    user_id: 'trader-1',
    venue: 'venue_b',
    timestamp_ms: '1790000000000',
    body_sha256: '',
  } as const;
  it.each([
    ['POST', '/trade-api/v2/api_keys'],
    ['POST', '/trade-api/v2/portfolio/../api_keys'],
    ['GET', '/trade-api/v2/portfolio/orders?limit=1'],
    ['GET', '/trade-api/v1/portfolio/orders'],
    ['GET', '/trade-api/v2//portfolio'],
    ['DELETE', '/trade-api/v2/markets/X'],
  ] as const)('this call at venue b: %s %s', (method, path) => {
    expect(() => headerText({ ...call, method, path })).toThrow(
      expect.objectContaining({ code: 'SIGNER_REFUSED' }),
    );
  });

  it('trading calls at venue b get signatures that verify', async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const path = '/trade-api/v2/portfolio/events/orders';
    const text = headerText({ ...call, method: 'POST', path });
    expect(text).toBe(`1790000000000POST${path}`);
    const signature = await signText(text, privateKey);
    const isGood = createVerify('sha256')
      .update(text)
      .verify(
        {
          key: createPublicKey(publicKey.export({ format: 'pem', type: 'spki' })),
          ...{ padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: 32 },
        },
        signature,
        'base64',
      );
    expect(isGood).toBe(true);
  });
});
