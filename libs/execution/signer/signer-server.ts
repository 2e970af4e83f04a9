import { rm } from 'node:fs/promises';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { z } from 'zod';
import { isValidToken } from '#libs/platform/internal-server/internal-server.js';
import { EXIT, isCodedError, StartFault } from '#libs/platform/process/start-fault.js';
import type { Clock } from '#libs/platform/time/clock.js';
import { SignerFailure, type SignerReply, type SignerRequest } from '../protocol/signer-protocol.js';
import { Lines, parsedLine } from './lines.js';
import { readSignerRequest } from './requests.js';

export interface SignerServerOptions {
  /** Path of the Unix socket. */
  readonly path: string;
  readonly serviceTokens: () => readonly string[];
  readonly answer: (request: SignerRequest) => Promise<SignerReply>;
  readonly onFault: (error: unknown) => void;
  readonly clock: Clock;
}

const OWNER_ALONE = 0o177;
const MOST_PEERS = 16;
const MOST_PENDING = 1_024;
const HELLO_WITHIN_MS = 2_000;
/** A peer that does not read its replies is disconnected before they fill the memory. */
const MOST_UNREAD_BYTES = 1024 * 1024;

const HELLO = z.object({ token: z.string() });
const ENTRY = z.object({ id: z.number().int(), request: z.unknown() });

/** Listens on a Unix socket that only this process's user may open. Each peer must first show the service token. */
export class SignerServer {
  private readonly peers = new Set<Socket>();
  private readonly server: Server;

  constructor(private readonly options: SignerServerOptions) {
    this.server = createServer((socket) => {
      this.serve(socket);
    });
    this.server.maxConnections = MOST_PEERS;
  }

  async listen(): Promise<void> {
    await removeLeftOver(this.options.path);
    // The socket file must never have wider rights, not even for a moment.
    const before = process.umask(OWNER_ALONE);
    try {
      await new Promise<void>((resolve, reject) => {
        const refuse = (error: Error): void => {
          reject(unusable(this.options.path, error));
        };
        this.server.once('error', refuse).listen(this.options.path, () => {
          this.server.off('error', refuse);
          resolve();
        });
      });
    } finally {
      process.umask(before);
    }
  }

  close(): Promise<void> {
    return new Promise((resolve) => {
      this.server.close(() => {
        resolve();
      });
      for (const peer of this.peers) peer.destroy();
    });
  }

  private serve(socket: Socket): void {
    const { clock, serviceTokens } = this.options;
    const lines = new Lines();
    let [isKnown, pending] = [false, 0];
    this.peers.add(socket);
    const cancel = clock.after(HELLO_WITHIN_MS, () => {
      if (!isKnown) socket.destroy();
    });
    const take = (line: string): void => {
      if (socket.destroyed) return;
      if (!isKnown) {
        const hello = HELLO.safeParse(parsedLine(line));
        isKnown = hello.success && isValidToken(hello.data.token, serviceTokens());
        if (!isKnown) socket.destroy();
        return;
      }
      const entry = ENTRY.safeParse(parsedLine(line));
      if (!entry.success || pending >= MOST_PENDING) {
        socket.destroy();
        return;
      }
      pending += 1;
      void this.reply(entry.data.request).then((reply) => {
        pending -= 1;
        if (socket.destroyed) return;
        socket.write(`${JSON.stringify({ id: entry.data.id, reply })}\n`);
        if (socket.writableLength > MOST_UNREAD_BYTES) socket.destroy();
      });
    };
    socket.on('data', (chunk) => {
      if (!lines.take(Buffer.from(chunk), take)) socket.destroy();
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      cancel();
      this.peers.delete(socket);
    });
  }

  private async reply(request: unknown): Promise<SignerReply> {
    try {
      return await this.options.answer(readSignerRequest(request));
    } catch (error) {
      if (error instanceof SignerFailure) return { ok: false, code: error.code, message: error.message };
      this.options.onFault(error);
      return { ok: false, code: 'SIGNER_UNAVAILABLE', message: 'the signer cannot sign just now' };
    }
  }
}

/** A killed signer leaves its socket file. A living signer must keep its file. */
async function removeLeftOver(path: string): Promise<void> {
  const isAnswered = await new Promise<boolean>((resolve, reject) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', (error) => {
      const code = isCodedError(error) ? error.code : '';
      if (code === 'ENOENT' || code === 'ECONNREFUSED') resolve(false);
      else reject(unusable(path, error));
    });
  });
  if (isAnswered) throw new StartFault(`SIGNER_SOCKET: another process answers at ${path}`, EXIT.unavailable);
  await rm(path, { force: true });
}

/** The folder is missing, the path is too long for a socket, or access is denied. */
function unusable(path: string, error: Error): StartFault {
  const code = isCodedError(error) ? error.code : error.message;
  return new StartFault(`SIGNER_SOCKET: ${path} cannot be used (${code})`, EXIT.config);
}
