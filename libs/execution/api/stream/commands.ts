import type {
  SocketAnswer,
  SocketCommand,
  CommandName,
  CommandTaker,
  StreamCaller,
} from '../../stream/ports.js';

/** One command of a socket, in the form of the same HTTP call. */
export interface SocketCall {
  readonly requestId: string;
  readonly caller: StreamCaller;
  /** The JSON text of the HTTP body. Numbers keep their spelling. */
  readonly body: string;
  readonly channel: 'WS';
  /** Set if the order is cancelled when the connection is lost. It becomes part of the order's terms. */
  readonly connectionId?: string;
}

/** The order calls without HTTP, from the check of scopes on. Sockets share the handlers of HTTP, so checks and answers are the same. */
export interface OrderCalls {
  submit(call: SocketCall): Promise<SocketAnswer>;
  cancel(orderId: string, call: SocketCall): Promise<SocketAnswer>;
  cancelByClientId(call: SocketCall): Promise<SocketAnswer>;
  cancelAll(call: SocketCall): Promise<SocketAnswer>;
  amend(orderId: string, call: SocketCall): Promise<SocketAnswer>;
}

const EMPTY = '{}';

/** Routes the commands of sockets to the handlers of HTTP, so that both behave alike. */
export class SocketCommandRouter implements CommandTaker {
  constructor(
    private readonly calls: OrderCalls,
    private readonly newRequestId: () => string,
  ) {}

  run({ name, members, caller, connectionId }: SocketCommand): Promise<SocketAnswer> {
    const call = (body: string): SocketCall => ({
      requestId: this.newRequestId(),
      caller,
      body,
      channel: 'WS',
      ...(connectionId === undefined ? {} : { connectionId }),
    });
    return this.routes[name](members, call);
  }

  private readonly routes: Readonly<Record<CommandName, Route>> = {
    'order.submit': (members, call) => this.calls.submit(call(orderIn(members))),
    'order.cancel': (members, call) => {
      const orderId = textIn(members.get('order_id'));
      if (!members.has('order_id')) return this.calls.cancelByClientId(call(objectOf(members)));
      return this.calls.cancel(orderId, call(objectOf(without(members, 'order_id'))));
    },
    'order.cancel_all': (members, call) => this.calls.cancelAll(call(objectOf(members))),
    'order.amend': (members, call) =>
      this.calls.amend(textIn(members.get('order_id')), call(objectOf(without(members, 'order_id')))),
  };
}

type Route = (
  members: ReadonlyMap<string, string>,
  call: (body: string) => SocketCall,
) => Promise<SocketAnswer>;

function without(members: ReadonlyMap<string, string>, name: string): ReadonlyMap<string, string> {
  return new Map([...members].filter(([other]) => other !== name));
}

function objectOf(members: ReadonlyMap<string, string>): string {
  return `{${[...members].map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

/** `not_after` next to the order means the same as inside it. In both places it is a repeated field, which the call refuses. */
function orderIn(members: ReadonlyMap<string, string>): string {
  const order = members.get('order') ?? EMPTY;
  const notAfter = members.get('not_after');
  if (members.size === 1 && members.has('order')) return order;
  // Other members next to `order` are unknown fields. The call refuses them.
  if (members.size !== 2 || notAfter === undefined || !/^\{\s*"/.test(order)) return objectOf(members);
  return `${order.slice(0, order.lastIndexOf('}'))},"not_after":${notAfter}}`;
}

/** An id that is not a string becomes empty, and the call refuses it like a wrong id in a path. */
function textIn(json: string | undefined): string {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return typeof value === 'string' ? value : '';
}
