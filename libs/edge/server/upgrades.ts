import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Fault } from '../dialect/fault.js';
import type { EdgePorts, Dispatcher } from '../dispatcher.js';
import { refuse, type RefusalPorts } from './edge-server.js';
import type { Caller } from '../endpoint.js';
import type { Reply } from '../reply/reply.js';
import { bearerToken, givenRequestId, protocolToken } from '../exchange/request-headers.js';
import { splitTarget } from '../exchange/target.js';

/** A WebSocket handshake whose caller was authenticated and permitted. */
export interface Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly principal: Caller;
  readonly token: string;
}

/** Takes over the socket, or returns a refusal. */
export type Accept = (handshake: Handshake) => Reply | undefined;

export type UpgradePorts = RefusalPorts & Pick<EdgePorts, 'onFault' | 'onAnswer'>;

const KEY = /^[A-Za-z0-9+/]{22}==$/;
const VERSION = '13';

/** Checks WebSocket handshakes like other requests, and refuses them in the same envelope. */
export class Upgrades {
  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly paths: readonly string[],
    private readonly accept: Accept,
    private readonly ports: UpgradePorts,
  ) {}

  accepts(request: IncomingMessage): boolean {
    const { upgrade } = request.headers;
    return upgrade?.toLowerCase() === 'websocket' && this.paths.includes(splitTarget(request.url ?? '').path);
  }

  async handle(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const fail = (): void => {
      socket.destroy();
    };
    // Node no longer handles errors of the socket, and without a listener an error would end the process.
    socket.on('error', fail);
    const reply = await this.answer({ request, socket, head }, fail);
    if (reply === undefined) return;
    const requestId = givenRequestId(request, this.ports.dialect.requestId) ?? this.ports.newRequestId();
    this.ports.onAnswer?.({ requestId, operationId: undefined, status: reply.status, nanos: 0n });
    refuse(socket, reply, { ...this.ports, newRequestId: () => requestId });
  }

  private async answer(
    upgrade: Pick<Handshake, 'request' | 'socket' | 'head'>,
    fail: () => void,
  ): Promise<Reply | undefined> {
    const { request, socket } = upgrade;
    try {
      const { dialect } = this.ports;
      if (!this.accepts(request)) return dialect.refuse({ kind: 'malformed-request' });
      const token = bearerToken(request) ?? protocolToken(request);
      const admitted = await this.dispatcher.admit(request, token);
      if ('kind' in admitted) return dialect.refuse(admitted);
      const { principal } = admitted;
      if (principal === undefined || token === undefined) throw new Error('a handshake without a caller');
      const fault = handshakeFault(request);
      if (fault !== undefined) return dialect.refuse(fault);
      const refused = this.accept({ ...upgrade, principal, token });
      // From now on the new owner of the socket handles its errors. After a refusal `fail` still does.
      if (refused === undefined) socket.off('error', fail);
      return refused;
    } catch (error) {
      this.ports.onFault(error, '', undefined);
      return this.ports.dialect.refuse({ kind: 'internal-error' });
    }
  }
}

function handshakeFault({ method, headers }: IncomingMessage): Fault | undefined {
  if (headers['sec-websocket-version'] !== VERSION) return { kind: 'upgrade-required' };
  const key = headers['sec-websocket-key'];
  return method === 'GET' && key !== undefined && KEY.test(key) ? undefined : { kind: 'malformed-request' };
}
