import type { Socket } from 'node:net';

/**
 * Bounds the memory of replies that peers have not read. Past the bound it disconnects the peers that stalled first, until the
 * rest fits. A peer that reads moves to the end of this order.
 */
export class UnreadAnswers {
  /** By socket, in the order in which they stalled. */
  private readonly unreadBytes = new Map<Socket, number>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** Counts the unread data of `socket` until the returned function is called or the socket is destroyed. */
  hold(socket: Socket): () => void {
    const size = socket.writableLength;
    this.unreadBytes.set(socket, size);
    this.bytes += size;
    this.enforceBound();
    return () => {
      this.release(socket);
    };
  }

  private enforceBound(): void {
    for (const socket of this.unreadBytes.keys()) {
      if (this.bytes <= this.maxBytes) return;
      this.release(socket);
      socket.destroy();
    }
  }

  private release(socket: Socket): void {
    this.bytes -= this.unreadBytes.get(socket) ?? 0;
    this.unreadBytes.delete(socket);
  }
}
