import { mkdir, writeFile } from 'node:fs/promises';
import { Session } from 'node:inspector/promises';
import path from 'node:path';

/** Profiles this process: it generates every load, and some rows have no other process. */
export class OwnProfile {
  private constructor(private readonly session: Session) {}

  static async begin(): Promise<OwnProfile> {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.start');
    return new OwnProfile(session);
  }

  /** Writes the profile where other processes write theirs. */
  async end(folder: string): Promise<void> {
    const { profile } = await this.session.post('Profiler.stop');
    this.session.disconnect();
    await mkdir(folder, { recursive: true });
    await writeFile(path.join(folder, `bench-${process.pid}.cpuprofile`), JSON.stringify(profile));
  }
}
