import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { ProxyPipe } from './tcp-proxy-pipe.js';

/** From the client's view: its own bytes go to the server. */
export type ProxyDirection = 'to-server' | 'to-client';

export interface TcpProxy {
  readonly port: number;
  /** Resets every connection. New connections work. */
  cut(): void;
  /** Resets new connections at once, until heal(). */
  refuse(): void;
  /**
   * Drops the bytes of this direction silently. A connection that has lost bytes stays silent for good, even after heal(), which
   * only lets later connections through.
   */
  blackhole(direction: ProxyDirection): void;
  /**
   * Delays the bytes of this direction on connections that are open now. They arrive after heal(), even if their sender is gone
   * then. Later connections work.
   */
  stall(direction: ProxyDirection): void;
  /** Delays every byte of both directions by this time, in order. */
  delay(millis: number): void;
  heal(): void;
  close(): Promise<void>;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  readonly pipes: Readonly<Record<ProxyDirection, ProxyPipe>>;
}

const DIRECTIONS = ['to-server', 'to-client'] as const;

/** A network connection to `target` that a test can break. */
export async function openProxy(options: {
  readonly target: { readonly host: string; readonly port: number };
}): Promise<TcpProxy> {
  const links = new Set<Link>();
  const faults = { refusing: false, delay: 0, swallow: new Set<ProxyDirection>() };

  const applyTo = (link: Link): void => {
    for (const direction of DIRECTIONS) {
      const pipe = link.pipes[direction];
      pipe.delay = faults.delay;
      if (faults.swallow.has(direction)) pipe.swallow();
    }
  };
  const applyToAll = (): void => links.forEach(applyTo);

  // Half-open is allowed: the end of one direction must not cut off bytes of the other.
  const listener = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined);
    if (faults.refusing) {
      client.resetAndDestroy();
      return;
    }
    const server = connect({ ...options.target, allowHalfOpen: true });
    server.on('error', () => undefined);
    const pipes = { 'to-server': new ProxyPipe(client, server), 'to-client': new ProxyPipe(server, client) };
    const link = { client, server, pipes };
    links.add(link);
    const forget = (): void => {
      if (client.closed && server.closed) links.delete(link);
    };
    client.once('close', forget);
    server.once('close', forget);
    applyTo(link);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  const reset = (): void => {
    for (const { client, server } of links) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    cut: reset,
    refuse: () => {
      faults.refusing = true;
    },
    blackhole: (direction) => {
      faults.swallow.add(direction);
      applyToAll();
    },
    stall: (direction) => {
      for (const { pipes } of links) pipes[direction].hold(true);
    },
    delay: (millis) => {
      faults.delay = millis;
      applyToAll();
    },
    heal: () => {
      Object.assign(faults, { refusing: false, delay: 0 });
      faults.swallow.clear();
      applyToAll();
      for (const { pipes } of links) for (const direction of DIRECTIONS) pipes[direction].hold(false);
    },
    close: async () => {
      reset();
      listener.close();
      await once(listener, 'close');
    },
  };
}
