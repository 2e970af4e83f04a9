import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { ProxyPipe } from './tcp-proxy-pipe.js';

/** Seen from the client: what it sends goes to the server. */
export type ProxyDirection = 'to-server' | 'to-client';

export interface TcpProxy {
  readonly port: number;
  /** Breaks every connection with a reset. New ones are let through. */
  cut(): void;
  /** New connections are reset at once, until heal(). */
  refuse(): void;
  /**
   * Bytes of this direction vanish and nobody is told. What a connection has lost never comes back: it stays silent for good,
   * also after heal(), which only lets later connections through.
   */
  blackhole(direction: ProxyDirection): void;
  /**
   * Bytes of this direction are held up on the connections that are open now, and arrive after heal() even if their sender is
   * gone by then. Later connections are let through.
   */
  stall(direction: ProxyDirection): void;
  /** Every byte of both directions comes this much later, in order. */
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

/** A piece of network that a test can break, between a client and `target`. */
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

  // Half-open is allowed: the end of one direction must not cut off what the other still carries.
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
