import { openProxy, type TcpProxy } from '#libs/testing/network/tcp-proxy.js';

const HOST = '127.0.0.1';

export interface Wire {
  readonly from: string;
  readonly to: string;
  readonly proxy: TcpProxy;
}

/** All connections between processes, each through a proxy that can be broken. */
export class Wires {
  private readonly all: Wire[] = [];

  /** The port at which `from` reaches the listener on `port`. */
  async lay(from: string, to: string, port: number): Promise<number> {
    const proxy = await openProxy({ target: { host: HOST, port } });
    this.all.push({ from, to, proxy });
    return proxy.port;
  }

  /** All wires from one kind of process to another. */
  between(from: string, to: string): Wire[] {
    return this.all.filter((wire) => sortOf(wire.from) === from && sortOf(wire.to) === to);
  }

  async close(): Promise<void> {
    await Promise.all(this.all.map(({ proxy }) => proxy.close()));
  }
}

/** `owner-1` is an owner. */
export function sortOf(name: string): string {
  return name.replace(/-\d+$/, '');
}
