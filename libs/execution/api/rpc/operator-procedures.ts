import { arrayOf, object } from '#libs/edge/decoding/decode.js';
import { enumOf, instant, text } from '#libs/edge/decoding/decode-scalars.js';
import { TRADING_MODES } from '../../protocol/cell-protocol.js';
import type { OperatorDeed } from '../operators/operator-book.js';
import { present } from '../present.js';
import { wrongField } from '../refusals.js';
import { orderCaller } from '../caller.js';
import { anyId, exchange, uuidText, verdict, why, wholePositive } from './inputs.js';
import { procedure, type Procedure, type ProcedureCall } from './procedure.js';
import {
  accessSet,
  breakersReset,
  keyGranted,
  keyRevoked,
  OF_VENUE,
  RECONCILING,
  switchesResult,
  switchSet,
} from './results.js';
import { order } from '../record-shapes.js';
import { unregistered } from './reading-procedures.js';

const CODE = 'VALIDATION_INVALID_PARAMETER';
const side = enumOf(['buy', 'sell']);
const kind = enumOf(['market', 'limit']);
const timeInForce = enumOf(['GTC', 'GTD', 'FOK', 'FAK', 'IOC']);
const mutation = { kind: 'mutation', access: 'operator' } as const;
const query = { kind: 'query', access: 'operator' } as const;
const MOST_SCOPES = 20;
const MOST_ADDRESSES = 50;

/** The changes that operators can make. Each is recorded in `operator_actions` in the same transaction. */
export function operatorProcedures(): readonly Procedure[] {
  return [...switchProcedures(), ...venueProcedures(), ...keyProcedures(), reconcile()];
}

function actionOf(
  action: string,
  { caller, requestId: request_id, input }: ProcedureCall<object>,
  reason: string,
): OperatorDeed {
  return { operator: caller.user_id, action, input, reason, request_id };
}

function switchProcedures(): readonly Procedure[] {
  return [
    procedure(
      {
        name: 'admin.switches.set',
        ...mutation,
        result: switchSet,
        summary: 'Restrict trading, or lift a restriction',
      },
      object({
        required: { mode: enumOf(TRADING_MODES), reason: why },
        optional: { exchangeId: exchange, side, kind, timeInForce, userId: uuidText, resumesAt: instant },
      }),
      async (call) => {
        const { cells, venues, opened } = call.parts;
        const { operators, switches } = opened;
        const { mode, reason, resumesAt, ...target } = call.input;
        if (target.exchangeId !== undefined && !venues.has(target.exchangeId)) throw unregistered();
        const set = await operators.act(actionOf('switches.set', call, reason), (client) =>
          switches.set(client, target, mode, resumesAt),
        );
        // A cell that misses this request polls for changes anyway.
        await cells.askAll<'switches_changed'>({ op: 'switches_changed' });
        return { ...set, reason };
      },
    ),
    procedure(
      {
        name: 'admin.switches.list',
        ...query,
        result: switchesResult,
        summary: 'All switches that are not on',
      },
      object({}),
      async ({ parts }) => ({ switches: await parts.opened.switches.list() }),
    ),
  ];
}

function venueProcedures(): readonly Procedure[] {
  return [
    procedure(
      {
        name: 'admin.breakers.reset',
        ...mutation,
        result: breakersReset,
        statuses: OF_VENUE,
        summary: 'Close breakers of a venue',
      },
      object({
        required: { exchangeId: exchange, reason: why },
        optional: { side, kind, timeInForce },
      }),
      async (call) => {
        const { venues, opened } = call.parts;
        const { operators, executor } = opened;
        const { exchangeId, reason, timeInForce: time_in_force, ...named } = call.input;
        if (!venues.has(exchangeId)) throw unregistered();
        await operators.act(actionOf('breakers.reset', call, reason), () =>
          executor.told<'reset_breakers'>({
            ...{ op: 'reset_breakers', request_id: call.requestId, venue: exchangeId },
            ...present({ ...named, time_in_force }),
          }),
        );
        return call.input;
      },
    ),
    procedure(
      {
        name: 'admin.apiAccess.set',
        ...mutation,
        result: accessSet,
        summary: 'Set whether API keys may use a venue. Null means unknown',
      },
      object({ required: { exchangeId: exchange, enabled: verdict, reason: why } }),
      async (call) => {
        const { venues, opened } = call.parts;
        const { operators, access } = opened;
        const { exchangeId: provider, enabled: value, reason } = call.input;
        if (!venues.has(provider)) throw unregistered();
        const { enabled } = value;
        const shown = { exchangeId: provider, enabled, reason };
        await access.set({ provider, enabled, by: call.caller.user_id, reason }, (client) =>
          operators.write(client, { ...actionOf('apiAccess.set', call, reason), input: shown }),
        );
        return shown;
      },
    ),
  ];
}

function keyProcedures(): readonly Procedure[] {
  const scope = text({ pattern: /^(?!auction:)[!-~]{1,64}$/ });
  return [
    procedure(
      {
        name: 'admin.keys.grant',
        ...mutation,
        result: keyGranted,
        summary: 'Give a user an API key with any scopes',
      },
      object({
        required: {
          userId: uuidText,
          name: text({ minLength: 1, maxLength: 64, printable: true }),
          scopes: arrayOf(scope, { max: MOST_SCOPES }),
        },
        optional: {
          ipAllowList: arrayOf(anyId, { max: MOST_ADDRESSES }),
          ordersPerMinute: wholePositive,
          expiresAt: instant,
          reason: why,
        },
      }),
      async (call) => {
        const { operators, keys } = call.parts.opened;
        const { userId, name, scopes, ipAllowList, ordersPerMinute, expiresAt, reason = '' } = call.input;
        const limits = present({ ip_allow_list: ipAllowList, orders_per_minute: ordersPerMinute });
        const end = expiresAt === undefined ? {} : { expires_at: new Date(expiresAt) };
        const issued = await keys.grant(userId, { name, scopes, ...limits, ...end }, (client, clientId) =>
          operators.write(client, {
            ...actionOf('keys.grant', call, reason),
            input: { ...call.input, clientId },
          }),
        );
        if (issued === undefined) throw wrongField(CODE, 'userId', 'There is no such user');
        const { client_id: clientId, api_key: apiKey, api_secret: apiSecret } = issued.triple;
        return { clientId, apiKey, apiSecret, scopes: issued.row.scopes };
      },
    ),
    procedure(
      {
        name: 'admin.keys.revoke',
        ...mutation,
        result: keyRevoked,
        summary: 'Revoke any API key permanently',
      },
      object({ required: { clientId: anyId, reason: why } }),
      async (call) => {
        const { operators, keys } = call.parts.opened;
        const { clientId, reason } = call.input;
        const isRevoked = await keys.revokeAny(clientId, (client) =>
          operators.write(client, actionOf('keys.revoke', call, reason)),
        );
        if (!isRevoked) throw wrongField(CODE, 'clientId', 'There is no such API key');
        return { clientId, reason };
      },
    ),
  ];
}

function reconcile(): Procedure {
  return procedure(
    {
      name: 'admin.orders.reconcile',
      ...mutation,
      result: order,
      statuses: RECONCILING,
      summary: "Query the venue now about any user's order",
    },
    object({ required: { orderId: uuidText, reason: why } }),
    async (call) => {
      const { cells, opened } = call.parts;
      const { orderId: order_id, reason } = call.input;
      const user_id = await cells.ownerOf(order_id);
      return opened.operators.act(actionOf('orders.reconcile', call, reason), () =>
        cells.told<'orders_reconcile'>({
          ...orderCaller({ user_id }, call.requestId),
          ...{ op: 'orders_reconcile', order_id },
        }),
      );
    },
  );
}
