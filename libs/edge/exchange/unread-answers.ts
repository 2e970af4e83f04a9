import type { Socket } from 'node:net';

/**
 * Replies that peers have not read. Past the bound, the peers that have not read for longest are cut off until the rest fits. A
 * peer that reads at all moves back in this order.
 */
export class UnreadAnswers {
  /** In the order in which they stalled. */
  private readonly held = new Map<Socket, number>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Counts the unread data of `socket` until the returned function is called, or the socket is cut off. */
  hold(socket: Socket): () => void {
    const size = socket.writableLength;
    this.held.set(socket, size);
    this.bytes += size;
    this.cut();
    return () => {
      this.release(socket);
    };
  }

  private cut(): void {
    for (const socket of this.held.keys()) {
      if (this.bytes <= this.maxBytes) return;
      this.release(socket);
      socket.destroy();
    }
  }

  private release(socket: Socket): void {
    this.bytes -= this.held.get(socket) ?? 0;
    this.held.delete(socket);
  }
}
