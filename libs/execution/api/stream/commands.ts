import type {
  SocketAnswer,
  SocketCommand,
  CommandName,
  CommandTaker,
  StreamCaller,
} from '../../stream/ports.js';

/** One command of a socket, as the handler of the same call over HTTP takes it. */
export interface SocketCall {
  readonly requestId: string;
  readonly caller: StreamCaller;
  /** JSON text of the body that the call has over HTTP, with every number as it was written. */
  readonly body: string;
  readonly channel: 'WS';
  /** Goes into the terms of an order that is to be cancelled when its socket is lost. */
  readonly connectionId?: string;
}

/**
 * The order calls without HTTP: from the check of scopes on, all that the call makes of its body, in the same order, with
 * the same answers. Handlers of REST and of sockets are one.
 */
export interface OrderCalls {
  submit(call: SocketCall): Promise<SocketAnswer>;
  cancel(orderId: string, call: SocketCall): Promise<SocketAnswer>;
  cancelByClientId(call: SocketCall): Promise<SocketAnswer>;
  cancelAll(call: SocketCall): Promise<SocketAnswer>;
  amend(orderId: string, call: SocketCall): Promise<SocketAnswer>;
}

const EMPTY = '{}';

/** CommandTaker of a socket are the calls of REST, so that nothing about them can differ but how they came. */
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

/** A time beside the order means the same as within it; in both places it is a field that comes twice. */
function orderIn(members: ReadonlyMap<string, string>): string {
  const order = members.get('order') ?? EMPTY;
  const notAfter = members.get('not_after');
  if (members.size === 1 && members.has('order')) return order;
  // What else stands beside `order` is no field of an order, and neither is `order`: the call refuses them.
  if (members.size !== 2 || notAfter === undefined || !/^\{\s*"/.test(order)) return objectOf(members);
  return `${order.slice(0, order.lastIndexOf('}'))},"not_after":${notAfter}}`;
}

/** An id that is no text is no id of an order either: the call refuses it as it does in a path. */
function textIn(json: string | undefined): string {
  const value: unknown = json === undefined ? undefined : JSON.parse(json);
  return typeof value === 'string' ? value : '';
}
