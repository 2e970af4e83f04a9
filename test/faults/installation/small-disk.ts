import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, statfsSync } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import path from 'node:path';

const MEGABYTE = 1_048_576;
const FILLER = 'filler';
const NOUGHTS = Buffer.alloc(MEGABYTE);

/** A separate file system that can be filled up. */
export class SmallDisk {
  private constructor(
    readonly name: string,
    readonly folder: string,
  ) {}

  static mount(name: string, folder: string, megabytes: number): SmallDisk {
    mkdirSync(folder, { recursive: true });
    const options = ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0755`, 'tmpfs', folder];
    const { status, stderr } = spawnSync('mount', options, { encoding: 'utf8' });
    if (status !== 0) throw new Error(`${folder} cannot be mounted: ${stderr}`);
    return new SmallDisk(name, folder);
  }

  /** Leaves this many megabytes, or fewer. */
  async fill(leftMegabytes = 0): Promise<void> {
    const filler = await open(this.filler, 'a');
    try {
      while (this.freeMegabytes > leftMegabytes) await filler.write(NOUGHTS);
      if (leftMegabytes === 0) for (;;) await filler.write(NOUGHTS, 0, 4_096);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('ENOSPC')) throw error;
    } finally {
      await filler.close();
    }
  }

  async empty(): Promise<void> {
    await rm(this.filler, { force: true });
  }

  /** Whether it was unmounted; processes that still use it do not prevent this. */
  unmount(): boolean {
    rmSync(this.filler, { force: true });
    return spawnSync('umount', ['-l', this.folder]).status === 0;
  }

  private get freeMegabytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return (bavail * bsize) / MEGABYTE;
  }

  private get filler(): string {
    return path.join(this.folder, FILLER);
  }
}
