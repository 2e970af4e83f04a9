import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { executionMigrations } from '#libs/execution/migrations/list.js';
import { FileKeyManagement } from '#libs/execution/signer/key-management.js';
import { SealedKeys } from '#libs/execution/signer/sealed-keys.js';
import { SignatureRecord } from '#libs/execution/signer/signature-record.js';
import { SignerClient } from '#libs/execution/signer/signer-client.js';
import { SignerServer } from '#libs/execution/signer/signer-server.js';
import { SigningService } from '#libs/execution/signer/signing-service.js';
import { SystemClock } from '#libs/platform/time/system-clock.js';
import { createTestDatabase } from '../database/test-database.js';

const TOKEN = 't'.repeat(32);

/** A signer as its process runs it, over a socket and with a database of its own. */
export async function openSigner(): Promise<{
  readonly signer: SignerClient;
  readonly close: () => Promise<void>;
}> {
  const clock = new SystemClock();
  const database = await createTestDatabase(executionMigrations);
  const folder = await mkdtemp(path.join(tmpdir(), 'signer-'));
  const service = new SigningService({
    keys: new SealedKeys(database.pool),
    management: new FileKeyManagement('0f'.repeat(32)),
    record: new SignatureRecord(database.pool),
    ...{ clock, network: 'main' },
  });
  const socket = path.join(folder, 'signer.sock');
  const server = new SignerServer({
    path: socket,
    serviceTokens: () => [TOKEN],
    answer: (request) => service.answer(request),
    onFault: () => undefined,
    clock,
  });
  await server.listen();
  const signer = new SignerClient({ path: socket, serviceToken: () => TOKEN, clock });
  return {
    signer,
    close: async () => {
      signer.close();
      await server.close();
      await rm(folder, { recursive: true });
      await database.drop();
    },
  };
}
