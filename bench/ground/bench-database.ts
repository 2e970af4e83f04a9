import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import {
  startEmbeddedPostgres,
  type EmbeddedPostgres,
} from '#libs/platform/embedded-postgres/embedded-postgres.js';
import { migrate } from '#libs/platform/database/migrate.js';
import { allMigrations } from '#libs/schema/all-migrations.js';

/** A real server in a folder of its own, with all tables of the product and its durability. */
export class BenchDatabase {
  private constructor(
    private readonly server: EmbeddedPostgres,
    private readonly folder: string,
  ) {}

  static async start(): Promise<BenchDatabase> {
    const folder = await mkdtemp(path.join(tmpdir(), 'sotto-bench-'));
    await chmod(folder, 0o711);
    const logFile = path.join(folder, 'postgres.log');
    const server = await startEmbeddedPostgres({ folder, logFile, removeFolder: true });
    await migrate(server.url, allMigrations, { info: () => undefined });
    return new BenchDatabase(server, folder);
  }

  get url(): string {
    return this.server.url;
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url });
    await client.connect();
    return client;
  }

  async stop(): Promise<void> {
    await this.server.stop();
    await rm(this.folder, { recursive: true, force: true });
  }
}
