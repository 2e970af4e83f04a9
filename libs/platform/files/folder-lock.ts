import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isCodedError } from '../process/start-fault.js';

const ANSWER_WITHIN_MS = 1_000;

export interface FolderLock {
  release(): Promise<void>;
}

/** The lock, or the name of its present holder. */
export type LockOutcome = { readonly lock: FolderLock } | { readonly heldBy: string };

/**
 * A lock that the kernel releases when its holder ends: a listening socket named after the folder's identity. On Linux the name
 * is in the abstract namespace, which leaves no stale file.
 */
export async function lockFolder(folderIdentity: string, holder: string): Promise<LockOutcome> {
  const name = `sotto-${folderIdentity}`;
  const address = process.platform === 'linux' ? `\0${name}` : path.join(tmpdir(), `${name}.lock`);
  const first = await tryListen(address, holder);
  if (first !== undefined) return { lock: first };
  const heldBy = await askHolder(address);
  if (heldBy !== undefined) return { heldBy };
  // No reply means a socket file of a killed process, or a holder that has just ended.
  if (process.platform !== 'linux') await rm(address, { force: true });
  const second = await tryListen(address, holder);
  return second === undefined ? { heldBy: 'a process that does not answer' } : { lock: second };
}

async function tryListen(address: string, holder: string): Promise<FolderLock | undefined> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.end(holder);
  });
  const error = await new Promise<Error | undefined>((resolve) => {
    server.once('error', resolve);
    server.listen(address, () => resolve(undefined));
  });
  if (error === undefined) {
    return { release: () => close(server) };
  }
  if (isCodedError(error) && error.code === 'EADDRINUSE') return undefined;
  throw error;
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
  });
}

function askHolder(address: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = '';
    const socket = connect(address);
    socket.setEncoding('utf8').setTimeout(ANSWER_WITHIN_MS, () => {
      socket.destroy();
      resolve('a process that does not answer');
    });
    socket.on('data', (text: string) => {
      answer += text;
    });
    socket.once('end', () => resolve(answer));
    socket.once('error', () => resolve(undefined));
  });
}
