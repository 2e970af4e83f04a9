import { renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Cancel, Clock } from '#libs/platform/time/clock.js';
import { internalUrl, type PlacedProcess } from './children.js';
import type { DemoUser, SeedResult } from './seed-result.js';
import type { PracticeFacts } from './trading.js';

export interface ClusterFileEntry {
  readonly name: string;
  /** Of the process catalogue, or `postgres`. */
  readonly kind: string;
  readonly pid: number;
  readonly health_url: string;
  readonly metrics_url: string;
  readonly url?: string;
}

/** How tools find a process. */
export function clusterProcess(place: PlacedProcess, pid: number): ClusterFileEntry {
  const { name, kind, url } = place.plan;
  return {
    name,
    kind: kind.name,
    pid,
    health_url: `${internalUrl(place)}${kind.paths.health}`,
    metrics_url: `${internalUrl(place)}${kind.paths.metrics}`,
    ...(url === undefined ? {} : { url }),
  };
}

/** How soon a write is tried again on a full disk. */
const RETRY_MS = 1_000;

/** What stays the same for the life of a cluster. */
export interface ClusterHead {
  /** Absent where no orders are executed. */
  readonly execution_url?: string;
  /** Absent where there is no market data; the stream's with its path. */
  readonly data_url?: string;
  readonly md_url?: string;
  readonly stream_url?: string;
  readonly gateway_url: string;
  readonly database_url: string;
  readonly journal_table: string;
  readonly limits_factor: number;
}

/** DATA_DIR/cluster.json: how tools and tests find a running cluster. Readers never see half of it. */
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

  /** Known once the practice venues answer. */
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

  /** Accounts at venue b by user, known once the practice venues answer. */
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
      // A full disk must not end the cluster, and a file that is out of date must not speak for it.
      for (const path of [this.file, partial]) removed(path);
      this.cancelRetry = this.clock.after(RETRY_MS, () => this.write());
    }
  }
}

/** How a trader begins is the launcher's own business. */
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

function removed(file: string): void {
  try {
    rmSync(file, { force: true });
  } catch {
    // A file system that has become read-only, say: the next attempt may have more luck.
  }
}

/** A file of an earlier run must not speak for one that has not started yet. */
export function forgetCluster(dataFolder: string): void {
  const file = clusterFilePath(dataFolder);
  for (const place of [file, partialOf(file)]) rmSync(place, { force: true });
}

export function clusterFilePath(dataFolder: string): string {
  return path.join(dataFolder, 'cluster.json');
}
