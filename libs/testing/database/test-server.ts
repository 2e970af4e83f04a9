import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../platform/embedded-postgres/embedded-postgres.js';

export const TEST_POSTGRES_VARIABLE = 'SOTTO_TEST_POSTGRES_URL';

export interface TestServer {
  readonly url: string;
  stop(): Promise<void>;
}

/** A server for tests. Nothing of it outlives the process that started it. */
export async function startTestServer(): Promise<TestServer> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sotto-test-'));
  // As root the server runs as another user, who needs access to its folder.
  await chmod(folder, 0o711);
  const server = await startEmbeddedPostgres({
    folder: path.join(folder, 'postgres'),
    logFile: path.join(folder, 'postgres.log'),
    durable: false,
    removeFolder: true,
  });
  return {
    url: server.url,
    stop: async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
