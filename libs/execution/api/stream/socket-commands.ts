import { parseJson, repeatedField } from '#libs/edge/decoding/strict-json.js';
import { payloadOf, type Reply } from '#libs/edge/reply/reply.js';
import type { SocketAnswer } from '../../stream/ports.js';
import { BODY_RULES, plainText } from '../dialect.js';
import type { DeskCall, OrderDesk } from '../orders/order-desk.js';
import { refusal } from '../refusals.js';
import type { OrderCalls, SocketCall } from './commands.js';

/** Runs the commands of sockets with the handlers of HTTP, from the check of scopes on. */
export class SocketCommands implements OrderCalls {
  constructor(private readonly desk: OrderDesk) {}

  submit(call: SocketCall): Promise<SocketAnswer> {
    return this.run(call, (desk, command) => desk.submit(command));
  }

  cancel(orderId: string, call: SocketCall): Promise<SocketAnswer> {
    return this.run(call, (desk, command) => desk.cancel(orderId, command));
  }

  cancelByClientId(call: SocketCall): Promise<SocketAnswer> {
    return this.run(call, (desk, command) => desk.cancelByClientId(command));
  }

  cancelAll(call: SocketCall): Promise<SocketAnswer> {
    return this.run(call, (desk, command) => desk.cancelAll(command));
  }

  amend(orderId: string, call: SocketCall): Promise<SocketAnswer> {
    return this.run(call, (desk, command) => desk.amend(orderId, command), plainText);
  }

  private async run(
    { requestId, caller, body, channel, connectionId }: SocketCall,
    work: (desk: OrderDesk, call: DeskCall) => Promise<Reply>,
    broken: (message: string) => Reply = (message) => refusal('VALIDATION_INVALID_PARAMETER', message),
  ): Promise<SocketAnswer> {
    if (!caller.scopes.has('trade:execute')) {
      return answerOf(refusal('AUTH_INSUFFICIENT_SCOPE', 'This command needs the scope trade:execute'));
    }
    const bytes = Buffer.from(body);
    const parsed = parseJson(bytes, BODY_RULES);
    if (!parsed.ok) {
      const field = repeatedField(bytes, BODY_RULES);
      const message = 'The command has a field twice';
      return answerOf(
        field === undefined
          ? broken('The command must be one JSON object')
          : refusal('VALIDATION_UNKNOWN_FIELD', message, { field }),
      );
    }
    const { account_id: user_id, client_id, orders_per_minute } = caller;
    return answerOf(
      await work(this.desk, {
        ...{ requestId, record: parsed.value, channel },
        caller: {
          user_id,
          ...(client_id === undefined ? {} : { client_id }),
          ...(orders_per_minute === undefined ? {} : { orders_per_minute }),
        },
        ...(connectionId === undefined ? {} : { connectionId }),
      }),
    );
  }
}

function answerOf(reply: Reply): SocketAnswer {
  const { headers = {} } = reply;
  return {
    status: reply.status,
    body: payloadOf(reply) ?? '',
    ...(headers['idempotent-replay'] === undefined ? {} : { isReplay: true }),
    ...(headers['idempotent-mismatch'] === undefined ? {} : { isMismatch: true }),
  };
}
