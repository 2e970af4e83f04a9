import { pause, type Clock } from '#libs/platform/time/clock.js';
import { lockFolder, type FolderLock } from '#libs/platform/files/folder-lock.js';
import { makeFolder } from '#libs/platform/files/make-folder.js';
import { StartFault } from '#libs/platform/process/start-fault.js';
import { markerOf, type ClusterMarker } from '#libs/platform/supervision/marker.js';

/** A file system that does not answer, such as a lost network share, must not block the start for ever. */
const OPEN_WITHIN_MS = 10_000;

export interface DataFolder {
  readonly path: string;
  readonly marker: ClusterMarker;
  readonly lock: FolderLock;
}

/** Makes the folder if it is missing, and locks it for this start. */
export async function openDataFolder(path: string, holder: string, clock: Clock): Promise<DataFolder> {
  const opened = await Promise.race([open(path, holder), pause(clock, OPEN_WITHIN_MS)]);
  if (opened === undefined) {
    throw new StartFault(`${path} does not answer: choose another DATA_DIR`);
  }
  return opened;
}

async function open(path: string, holder: string): Promise<DataFolder> {
  await makeFolder(path, 0o711);
  const marker = await markerOf(path);
  const lock = await lockFolder(marker.folder, holder);
  if ('heldBy' in lock) {
    throw new StartFault(`${path} is in use by another start (${lock.heldBy}): stop that or set DATA_DIR`);
  }
  return { path, marker, lock: lock.lock };
}
