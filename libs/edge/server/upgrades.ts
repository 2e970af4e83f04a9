import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Admitted } from '../admission.js';
import { MISMATCH } from '../decoding/decode.js';
import type { EdgePorts, Dispatcher } from '../dispatcher.js';
import { refuse, type RefusalPorts } from './edge-server.js';
import type { Principal } from '../endpoint.js';
import { queryFault, readQuery } from '../exchange/query-rule.js';
import { errorReply, INTERNAL_ERROR, MALFORMED_REQUEST, type Reply } from '../reply/reply.js';
import { bearerToken, givenRequestId, protocolToken } from '../exchange/request-headers.js';
import { splitTarget } from '../exchange/target.js';

/** A WebSocket handshake whose caller is known and may come in. */
export interface Handshake {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
  readonly principal: Principal;
  readonly token: string;
}

/** Takes the socket over, or says why not. */
export type Accept = (handshake: Handshake) => Reply | undefined;

export type UpgradePorts = RefusalPorts & Pick<EdgePorts, 'onFault' | 'onAnswer'>;

const KEY = /^[A-Za-z0-9+/]{22}==$/;
const VERSION = '13';
const UPGRADE_REQUIRED: Reply = {
  ...errorReply(426, 'upgrade_required'),
  headers: { upgrade: 'websocket', 'sec-websocket-version': VERSION },
};

/** The answer to a plain request for what only a WebSocket can give. */
export function upgradeRequired(): Reply {
  return UPGRADE_REQUIRED;
}

/** Leads WebSocket handshakes through the same checks as every request, and answers in the same envelope. */
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
    // Node has let go of the socket: nobody else would hear of it that the peer has gone.
    socket.on('error', fail);
    const reply = await this.answer({ request, socket, head }, fail);
    if (reply === undefined) return;
    const requestId = givenRequestId(request) ?? this.ports.newRequestId();
    this.ports.onAnswer?.({ requestId, operationId: undefined, status: reply.status, nanos: 0n });
    refuse(socket, reply, { ...this.ports, newRequestId: () => requestId });
  }

  private async answer(
    asked: Pick<Handshake, 'request' | 'socket' | 'head'>,
    fail: () => void,
  ): Promise<Reply | undefined> {
    const { request, socket } = asked;
    try {
      if (!this.accepts(request)) return MALFORMED_REQUEST;
      const token = bearerToken(request) ?? protocolToken(request);
      const admitted = await this.dispatcher.admit(request, token);
      if ('status' in admitted) return admitted;
      const { principal } = admitted;
      if (principal === undefined || token === undefined) throw new Error('a handshake without a caller');
      const fault = queryRefusal(admitted) ?? handshakeFault(request);
      if (fault !== undefined) return fault;
      const refused = this.accept({ ...asked, principal, token });
      // Only who has taken it over hears of its end now: a peer that has gone while it is refused must not end the process.
      if (refused === undefined) socket.off('error', fail);
      return refused;
    } catch (error) {
      this.ports.onFault(error, '', undefined);
      return INTERNAL_ERROR;
    }
  }
}

function queryRefusal({ endpoint: { spec }, query }: Admitted): Reply | undefined {
  return readQuery(spec, query) === MISMATCH ? errorReply(400, queryFault(spec)) : undefined;
}

function handshakeFault({ method, headers }: IncomingMessage): Reply | undefined {
  if (headers['sec-websocket-version'] !== VERSION) return UPGRADE_REQUIRED;
  const key = headers['sec-websocket-key'];
  return method === 'GET' && key !== undefined && KEY.test(key) ? undefined : MALFORMED_REQUEST;
}
