import type { Socket } from 'node:net';

/**
 * Answers that peers do not read. Past the bound the peers that have not read for longest are cut off until the rest fits: one
 * that reads at all soon comes after those that do not.
 */
export class UnreadAnswers {
  /** In the order in which they came to a halt. */
  private readonly held = new Map<Socket, number>();
  private bytes = 0;

  constructor(private readonly maxBytes: number) {}

  /** What `socket` has not taken counts until the returned function is called, or it is cut off. */
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
