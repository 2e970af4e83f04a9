import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { internalUrl, type PlacedProcess } from './children.js';
import type { DemoUser, SeedResult } from './seed-result.js';
import type { PracticeFacts } from './trading.js';

export interface ClusterFileEntry {
  readonly name: string;
  /** A kind of the process catalogue, or `postgres`. */
  readonly kind: string;
  readonly pid: number;
  readonly health_url: string;
  readonly metrics_url: string;
  readonly url?: string;
}

/** The entry by which tools find a process. */
export function clusterProcess(placed: PlacedProcess, pid: number): ClusterFileEntry {
  const { name, kind, url } = placed.plan;
  return {
    name,
    kind: kind.name,
    pid,
    health_url: `${internalUrl(placed)}${kind.paths.health}`,
    metrics_url: `${internalUrl(placed)}${kind.paths.metrics}`,
    ...(url === undefined ? {} : { url }),
  };
}

/** Delay before a failed write is repeated, for example on a full disk. */
const RETRY_MS = 1_000;

/** Fields that stay the same while a cluster runs. */
export interface ClusterHead {
  /** Absent where order execution does not run. */
  readonly execution_url?: string;
  /** Absent where market data does not run. `stream_url` includes the path. */
  readonly data_url?: string;
  readonly md_url?: string;
  readonly stream_url?: string;
  readonly gateway_url: string;
  readonly database_url: string;
  readonly journal_table: string;
  readonly limits_factor: number;
}

/** DATA_DIR/cluster.json: how tools and tests find a running cluster. Readers never see a partial file. */
export class ClusterFileWriter {
  private ready = false;
  private practice: PracticeFacts | undefined;
  private accounts: ReadonlyMap<string, string> = new Map();
  private readonly processes = new Map<string, ClusterFileEntry>();
  private readonly file: string;
  private cancelRetry: Cancel = () => undefined;

  constructor(
    dataFolder: string,
    private readonly head: ClusterHead,
    private readonly seed: SeedResult & { readonly adminSecret?: string },
    private readonly clock: Clock,
  ) {
    this.file = clusterFilePath(dataFolder);
  }

  /** Called once the practice venues answer. */
  describePractice(practice: PracticeFacts): void {
    this.practice = practice;
  }

  put(process: ClusterFileEntry): void {
    this.processes.set(process.name, process);
    this.write();
  }

  setReady(ready: boolean): void {
    this.ready = ready;
    this.write();
  }

  /** Accounts at venue b by user. Called once the practice venues answer. */
  describeAccounts(accounts: ReadonlyMap<string, string>): void {
    this.accounts = accounts;
  }

  private demo(): object {
    const { password, users, adminSecret } = this.seed;
    return {
      password,
      ...(adminSecret === undefined ? {} : { admin_secret: adminSecret }),
      users: users.map((user) => shownUser(user, this.accounts.get(user.account_id))),
    };
  }

  private write(): void {
    const content = {
      ready: this.ready,
      ...this.head,
      ...(this.practice === undefined ? {} : { practice: this.practice }),
      processes: [...this.processes.values()],
      demo: this.demo(),
      contracts: this.seed.contracts,
    };
    const partial = partialOf(this.file);
    this.cancelRetry();
    try {
      writeFileSync(partial, `${JSON.stringify(content, undefined, 2)}\n`, { mode: 0o600 });
      renameSync(partial, this.file);
    } catch {
      // A full disk must not end the cluster, and an outdated file must not describe it: remove it and try
      // again.
      for (const path of [this.file, partial]) removeIfPossible(path);
      this.cancelRetry = this.clock.after(RETRY_MS, () => this.write());
    }
  }
}

/** Leaves out how a trader starts, which only the launcher needs. */
function shownUser(
  { email, account_id, roles, invited, api_keys }: DemoUser,
  accountAtB: string | undefined,
): object {
  const triples = api_keys === undefined ? {} : { api_keys };
  return { email, account_id, roles, invited, venue_b_user_id: accountAtB ?? null, ...triples };
}

function partialOf(file: string): string {
  return `${file}.new`;
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // Ignored, for example on a read-only file system: the next attempt may succeed.
  }
}

/** Removes the file of an earlier run before a new cluster starts. */
export function forgetCluster(dataFolder: string): void {
  const file = clusterFilePath(dataFolder);
  for (const path_ of [file, partialOf(file)]) rmSync(path_, { force: true });
}

export function clusterFilePath(dataFolder: string): string {
  return path.join(dataFolder, 'cluster.json');
}
